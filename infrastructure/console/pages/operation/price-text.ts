import type { ExplainedPrice, PricedEvent } from '../../../../application/audit/explained-price.ts';
import { EXITS } from '../../../../domain/loan/exits.ts';
import type { ExitPricing } from '../../../../domain/curve/repurchase-value.ts';
import type { LoanEvent } from '../../../../domain/loan/index.ts';
import { amount, count, date, exact } from '../../format.ts';
import type { InLanguages, Language } from '../../language.ts';

/** How a price came about: what was reckoned, and what follows from the lines or from a rule that needs none. */
interface PriceText {
  readonly title: string;
  readonly steps: readonly string[];
}

type Writer<Event> = (event: Event, price: ExplainedPrice) => PriceText;
type Writers = {
  readonly [Type in PricedEvent['type']]: Writer<Extract<PricedEvent, { readonly type: Type }>>;
};

const present = (...steps: readonly (string | false | undefined)[]): readonly string[] =>
  steps.filter((step) => typeof step === 'string');

const portuguese: Writers = {
  LoanReceived: ({ pricing, dateIssued, acquisitionValue }) => ({
    title: `Fator diário ${exact(pricing.dailyFactor)}: com ele, os valores de face, cada um trazido a ${date(dateIssued)}, somam o valor de aquisição.`,
    steps: [`Valor de aquisição: ${amount(acquisitionValue)}`],
  }),
  InstallmentSettled: ({ installmentCode, scheduledValue, settledValue, lateDays }, { lines }) => {
    const difference = settledValue - scheduledValue;
    return {
      title: `Parcela ${installmentCode}: o que devia no vencimento`,
      steps: present(
        lines.length === 0
          ? `Valor previsto: ${amount(scheduledValue)}, o valor de face, porque nenhum pagamento antecipado deixou crédito nela`
          : `Valor previsto: ${amount(scheduledValue)}, o valor de face menos os créditos, entre nada e o valor de face`,
        `Valor pago: ${amount(settledValue)}`,
        difference < 0 && `Faltaram ${amount(-difference)}`,
        difference > 0 && `${amount(difference)} a mais, guardados como encargos`,
        `${count(lateDays)} dia(s) depois do vencimento`,
      ),
    };
  },
  PrepaymentProcessed: (event) => ({
    title: `Valor de quitação em ${date(event.prepaymentDate)}`,
    steps: present(
      `Valor de quitação: ${amount(event.payoffValue)}; pago: ${amount(event.prepaymentValue)}`,
      ...event.lines.map(
        ({ installmentCode, presentValue, paidOff }) =>
          `${installmentCode}: ${amount(presentValue)}, ${paidOff ? 'quitada' : 'alcançada, não quitada'}`,
      ),
      event.partial &&
        `${event.partial.installmentCode}: crédito de R$ ${exact(event.partial.credit.value)} em ${date(event.partial.credit.date)}; restam ${amount(event.partial.outstandingAtDue)} no vencimento`,
      `Saldo restante: ${amount(event.remainingBalance)}; excedente: ${amount(event.excessValue)}`,
    ),
  }),
  RepurchaseRequested: (event, { basis }) => {
    const value = basis ? amount(basis.value) : '(desconhecido)';
    const from =
      basis?.of === 'disbursed_value'
        ? `o valor desembolsado, ${value}`
        : `o valor de aquisição, ${value} (desembolsada antes de as saídas seguirem o valor desembolsado)`;
    const rules: Readonly<Record<ExitPricing, string>> = {
      present_value: 'valor presente do que está aberto',
      given_value: from,
      given_less_received: `${from}, menos ${amount(event.receivedValue)} já recebidos, nunca abaixo de zero`,
    };
    const { name, pricing } = EXITS[event.reason];
    return {
      title: `${name['pt-BR']} em ${date(event.effectiveDate)}: ${rules[pricing]}`,
      steps: [
        `Valor calculado: ${amount(event.calculatedValue)}`,
        `Valor da saída: ${amount(event.repurchaseValue)}, ${event.valueSource === 'informed' ? 'como o integrador informou' : 'como calculado'}`,
        `Recebidos antes: ${amount(event.receivedValue)}`,
      ],
    };
  },
};

const english: Writers = {
  LoanReceived: ({ pricing, dateIssued, acquisitionValue }) => ({
    title: `Daily factor ${exact(pricing.dailyFactor)}: with it the faces, each carried back to ${date(dateIssued)}, add up to the acquisition value.`,
    steps: [`Acquisition value: ${amount(acquisitionValue)}`],
  }),
  InstallmentSettled: ({ installmentCode, scheduledValue, settledValue, lateDays }, { lines }) => {
    const difference = settledValue - scheduledValue;
    return {
      title: `Installment ${installmentCode}: what it owed on its due date`,
      steps: present(
        lines.length === 0
          ? `Scheduled value: ${amount(scheduledValue)}, the face, because no prepayment left a credit on it`
          : `Scheduled value: ${amount(scheduledValue)}, the face less its credits, between nothing and the face`,
        `Settled value: ${amount(settledValue)}`,
        difference < 0 && `${amount(-difference)} missing`,
        difference > 0 && `${amount(difference)} above it, kept as charges`,
        `${count(lateDays)} day(s) after the due date`,
      ),
    };
  },
  PrepaymentProcessed: (event) => ({
    title: `Payoff value on ${date(event.prepaymentDate)}`,
    steps: present(
      `Payoff value: ${amount(event.payoffValue)}; paid: ${amount(event.prepaymentValue)}`,
      ...event.lines.map(
        ({ installmentCode, presentValue, paidOff }) =>
          `${installmentCode}: ${amount(presentValue)}, ${paidOff ? 'paid off' : 'reached, not paid off'}`,
      ),
      event.partial &&
        `${event.partial.installmentCode}: credit of R$ ${exact(event.partial.credit.value)} on ${date(event.partial.credit.date)}; leaves ${amount(event.partial.outstandingAtDue)} on its due date`,
      `Remaining balance: ${amount(event.remainingBalance)}; excess: ${amount(event.excessValue)}`,
    ),
  }),
  RepurchaseRequested: (event, { basis }) => {
    const value = basis ? amount(basis.value) : '(unknown)';
    const from =
      basis?.of === 'disbursed_value'
        ? `the disbursed value, ${value}`
        : `the acquisition value, ${value} (disbursed before exits followed the disbursed value)`;
    const rules: Readonly<Record<ExitPricing, string>> = {
      present_value: 'present value of what is open',
      given_value: from,
      given_less_received: `${from}, less ${amount(event.receivedValue)} received, never below nothing`,
    };
    const { name, pricing } = EXITS[event.reason];
    return {
      title: `${name.en} on ${date(event.effectiveDate)}: ${rules[pricing]}`,
      steps: [
        `Calculated value: ${amount(event.calculatedValue)}`,
        `Exit value: ${amount(event.repurchaseValue)}, ${event.valueSource === 'informed' ? 'as the integrator informed' : 'as calculated'}`,
        `Received before: ${amount(event.receivedValue)}`,
      ],
    };
  },
};

const WRITERS: InLanguages<Writers> = { 'pt-BR': portuguese, en: english };

/** What `audit show` says of the price of this event, in the words of the page. */
export const priceText = (event: LoanEvent, price: ExplainedPrice, language: Language): PriceText => {
  const write = WRITERS[language][event.type as PricedEvent['type']] as Writer<LoanEvent>;
  return write(event, price);
};
