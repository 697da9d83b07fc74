import type { InLanguages } from '../../language.ts';
import type { PaymentKind } from '../../../../projections/reconciliation/reconciliation-projection.ts';

interface TodayTexts {
  readonly waiting: string;
  readonly nothing: string;
  readonly operations: string;
  readonly longest: string;
  readonly week: (from: string, to: string) => string;
  readonly expected: string;
  readonly expectedHelp: string;
  readonly notified: string;
  readonly noMoney: string;
  readonly money: string;
  readonly kinds: Readonly<Record<PaymentKind, string>>;
  readonly total: string;
  readonly picture: (expected: string, notified: string) => string;
  readonly endpoints: string;
  readonly endpointsFine: (count: number) => string;
  readonly address: string;
  readonly failingFor: string;
  readonly lastSuccess: string;
  readonly never: string;
  readonly paused: string;
  readonly lag: string;
  readonly running: string;
  readonly notRunning: string;
  readonly caughtUp: string;
  readonly behind: (name: string, events: string) => string;
  readonly atLeast: (events: string) => string;
  readonly deliveriesWait: (span: string) => string;
  readonly noDeliveryWaits: string;
  readonly loading: string;
}

export const TODAY: InLanguages<TodayTexts> = {
  'pt-BR': {
    waiting: 'À espera de decisão',
    nothing: 'Nada espera por uma decisão.',
    operations: 'Operações',
    longest: 'Há mais tempo',
    week: (from, to) => `Dinheiro desta semana, de ${from} a ${to}`,
    expected: 'Ainda a vencer',
    expectedHelp: 'Valor de face das parcelas em aberto que vencem de hoje até o fim da semana.',
    notified: 'Notificado',
    noMoney: 'Nada vence e nada foi notificado nesta semana.',
    money: 'Dinheiro',
    kinds: { settlement: 'Liquidações', prepayment: 'Antecipações', repurchase: 'Recompras' },
    total: 'Total notificado',
    picture: (expected, notified) =>
      `Nesta semana ainda vencem ${expected}, e ${notified} foram notificados.`,
    endpoints: 'Endpoints com falha',
    endpointsFine: (count) => `Nenhum dos ${count} endpoints está falhando.`,
    address: 'Endereço',
    failingFor: 'Falha há',
    lastSuccess: 'Última entrega',
    never: 'nunca',
    paused: 'pausado',
    lag: 'Atraso',
    running: 'O serviço está em execução.',
    notRunning:
      'Nenhum serviço foi encontrado ao lado deste console: o que é mostrado pode estar parado. Inicie o serviço.',
    caughtUp: 'Tudo o que foi registrado já está nas leituras e foi publicado.',
    behind: (name, events) => `${name}: faltam ${events} eventos`,
    atLeast: (events) => `pelo menos ${events}`,
    deliveriesWait: (span) => `A entrega mais antiga espera há ${span}.`,
    noDeliveryWaits: 'Nenhuma entrega espera.',
    loading: 'Um momento…',
  },
  en: {
    waiting: 'Waiting for a decision',
    nothing: 'Nothing waits for a decision.',
    operations: 'Operations',
    longest: 'Longest wait',
    week: (from, to) => `Money of this week, ${from} to ${to}`,
    expected: 'Still to fall due',
    expectedHelp: 'Face value of open installments that fall due from today to the end of the week.',
    notified: 'Notified',
    noMoney: 'Nothing falls due and nothing was notified this week.',
    money: 'Money',
    kinds: { settlement: 'Settlements', prepayment: 'Prepayments', repurchase: 'Repurchases' },
    total: 'Notified in all',
    picture: (expected, notified) => `This week ${expected} still fall due, and ${notified} were notified.`,
    endpoints: 'Failing endpoints',
    endpointsFine: (count) => `None of the ${count} endpoints is failing.`,
    address: 'Address',
    failingFor: 'Failing for',
    lastSuccess: 'Last delivery',
    never: 'never',
    paused: 'paused',
    lag: 'Lag',
    running: 'The service is running.',
    notRunning: 'No service was found beside this console: what is shown may stand still. Start the service.',
    caughtUp: 'All that was recorded is in the reads and was published.',
    behind: (name, events) => `${name}: ${events} events behind`,
    atLeast: (events) => `at least ${events}`,
    deliveriesWait: (span) => `The oldest delivery has waited for ${span}.`,
    noDeliveryWaits: 'No delivery waits.',
    loading: 'One moment…',
  },
};
