import { count } from '../../format.ts';
import { inLanguages } from '../../language.ts';
import type { Both } from '../../language.ts';
import type { PaymentKind } from '../../../../projections/loan/payment-writes.ts';

const plural = (many: number, one: string, several: string): string =>
  `${count(many)} ${many === 1 ? one : several}`;

export const texts = inLanguages({
  waiting: ['À espera de decisão', 'Waiting for a decision'],
  nothing: ['Nada espera por uma decisão.', 'Nothing waits for a decision.'],
  nothingHelp: [
    'O que os originadores cederem, ou pedirem de volta, aparece aqui até que alguém decida.',
    'What originators assign, or ask back, stands here until somebody has decided.',
  ],
  operations: ['Operações', 'Operations'],
  longest: ['Há mais tempo', 'Longest wait'],
  overdue: ['Vencido e não pago', 'Overdue'],
  noneOverdue: ['Nenhuma operação ativa está atrasada.', 'No active operation is late.'],
  noneOverdueHelp: [
    'Uma parcela aparece aqui no dia seguinte ao vencimento, se não foi paga.',
    'An installment comes here on the day after it fell due, unless it was paid.',
  ],
  oldest: ['Mais antigo', 'Oldest'],
  days: (days: number) => [plural(days, 'dia', 'dias'), plural(days, 'day', 'days')],
  bands: ['Por dias de atraso', 'By days late'],
  worst: ['As mais atrasadas', 'Late for longest'],
  week: (from: string, to: string) => [
    `Dinheiro desta semana, de ${from} a ${to}`,
    `Money of this week, ${from} to ${to}`,
  ],
  dueToday: ['Vence hoje', 'Falls due today'],
  dueThisWeek: ['Vence até domingo', 'Falls due until Sunday'],
  cameInToday: ['Entrou hoje', 'Came in today'],
  cameInThisWeek: ['Entrou nesta semana', 'Came in this week'],
  ofInstallments: (many: number) => [
    plural(many, 'parcela', 'parcelas'),
    plural(many, 'installment', 'installments'),
  ],
  ofPayments: (many: number) => [
    plural(many, 'pagamento', 'pagamentos'),
    plural(many, 'payment', 'payments'),
  ],
  expected: ['Ainda a vencer', 'Still to fall due'],
  expectedHelp: [
    'Vence: valor de face das parcelas em aberto, de hoje até domingo. Entrou: o que foi notificado.',
    'Falls due: face value of open installments, from today to Sunday. Came in: what was notified.',
  ],
  noMoney: [
    'Nada vence e nada foi notificado nesta semana.',
    'Nothing falls due and nothing was notified this week.',
  ],
  noMoneyHelp: [
    'O que vence até domingo, e cada pagamento notificado desde segunda-feira, aparece aqui.',
    'What falls due until Sunday, and each payment notified since Monday, comes here.',
  ],
  kinds: {
    settlement: ['Liquidações', 'Settlements'],
    prepayment: ['Antecipações', 'Prepayments'],
    repurchase: ['Recompras', 'Repurchases'],
  } satisfies Record<PaymentKind, Both>,
  total: ['Total notificado', 'Notified in all'],
  picture: (expected: string, notified: string) => [
    `Nesta semana ainda vencem ${expected}, e ${notified} foram notificados.`,
    `This week ${expected} still fall due, and ${notified} were notified.`,
  ],
  noneAwaits: ['Nenhuma decisão espera por uma segunda pessoa.', 'No decision awaits a second person.'],
  noneAwaitsHelp: [
    'O que alguém decidir, e a regra do fundo pedir que outra pessoa confirme, aparece aqui.',
    'What somebody decides, and the rule of the fund has another person confirm, comes here.',
  ],
  noRule: [
    'Nenhum fundo pede duas pessoas; a regra se define em Fundos.',
    'No fund asks for two people; its rule is set in Funds.',
  ],
  decisions: ['Decisões', 'Decisions'],
  endpoints: ['Endpoints com falha', 'Failing endpoints'],
  endpointsFine: (count: number) => [
    `Nenhum dos ${count} endpoints está falhando.`,
    `None of the ${count} endpoints is failing.`,
  ],
  endpointsFail: (failing: number, count: number) => [
    `Falham ${failing} de ${count} endpoints.`,
    `${failing} of ${count} endpoints fail.`,
  ],
  address: ['Endereço', 'Address'],
  failingFor: ['Falha há', 'Failing for'],
  unsteady: ['instável', 'unsteady'],
  lastSuccess: ['Última entrega', 'Last delivery'],
  paused: ['pausado', 'paused'],
  service: ['Serviço', 'Service'],
  running: ['O serviço está em execução.', 'The service is running.'],
  notRunning: [
    'Nenhum serviço foi encontrado ao lado deste console: o que é mostrado pode estar parado. Inicie o serviço.',
    'No service was found beside this console: what is shown may stand still. Start the service.',
  ],
  idle: (role: string) => [
    `Nenhum processo assumiu o papel ${role}.`,
    `No process has taken the role ${role}.`,
  ],
  stuck: (name: string, problem: string) => [
    `${name} não consegue seguir o registro: ${problem}`,
    `${name} cannot follow the log: ${problem}`,
  ],
  quarantined: (many: string) => [
    `Em quarentena: ${many}. Um evento não pôde ser lido, e o que veio depois espera; veja receivables quarantine list.`,
    `In quarantine: ${many}. An event could not be read, and what came after it waits; see receivables quarantine list.`,
  ],
  caughtUp: [
    'Tudo o que foi registrado já está nas leituras e foi publicado.',
    'All that was recorded is in the reads and was published.',
  ],
  behind: (name: string, events: string) => [
    `${name}: eventos por ler: ${events}`,
    `${name}: events still to read: ${events}`,
  ],
  atLeast: (events: string) => [`pelo menos ${events}`, `at least ${events}`],
  deliveriesWait: (span: string) => [
    `A entrega mais antiga espera há ${span}.`,
    `The oldest delivery has waited for ${span}.`,
  ],
  noDeliveryWaits: ['Nenhuma entrega espera.', 'No delivery waits.'],
  loading: ['Um momento…', 'One moment…'],
});
