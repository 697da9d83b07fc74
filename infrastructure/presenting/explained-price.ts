import type { ExplainedPrice, PricedEvent } from '../../application/audit/explained-price.ts';
import type { ExitPricing } from '../../domain/loan/exits.ts';
import type { RepurchaseReason } from '../../domain/loan/exits.ts';
import { EXITS } from '../../domain/loan/exits.ts';
import type { LoanEvent } from '../../domain/loan/index.ts';
import { formatCents } from '../../domain/shared/money.ts';
import type { Cents } from '../../domain/shared/money.ts';

/** How who reads it writes what stands in it. */
interface Writing {
  readonly amount: (cents: Cents) => string;
  /** A decimal text with all its digits. */
  readonly exact: (decimal: string) => string;
  readonly date: (day: string) => string;
  readonly exit: (reason: RepurchaseReason) => string;
  readonly either: (portuguese: string, english: string) => string;
}

export const PLAIN: Writing = {
  amount: (cents) => `R$ ${formatCents(cents)}`,
  exact: (decimal) => decimal,
  date: (day) => day,
  exit: (reason) => reason,
  either: (_, english) => english,
};

interface PriceText {
  readonly title: string;
  readonly steps: readonly string[];
}

type Writer<Event> = (event: Event, price: ExplainedPrice, writing: Writing) => PriceText;

const WRITERS: {
  readonly [Type in PricedEvent['type']]: Writer<Extract<PricedEvent, { readonly type: Type }>>;
} = {
  LoanReceived: ({ pricing, dateIssued, acquisitionValue }, _, { amount, exact, date, either }) => {
    const [factor, day] = [exact(pricing.dailyFactor), date(dateIssued)];
    return {
      title: either(
        `fator diário ${factor}: com ele, os valores de face, cada um trazido a ${day}, somam o valor de aquisição`,
        `daily factor ${factor}: with it the faces, each carried back to ${day}, add up to the acquisition value`,
      ),
      steps: [`${either('valor de aquisição', 'acquisition value')} ${amount(acquisitionValue)}`],
    };
  },
  InstallmentSettled: (event, { lines }, { amount, either }) => {
    const { installmentCode: code, scheduledValue, settledValue, lateDays } = event;
    const difference = settledValue - scheduledValue;
    const [scheduled, apart] = [amount(scheduledValue), amount(Math.abs(difference) as Cents)];
    const state =
      difference < 0
        ? either(`faltaram ${apart}`, `${apart} missing`)
        : either(`${apart} a mais, guardados como encargos`, `${apart} above it, kept as charges`);
    return {
      title: either(
        `parcela ${code}: o que devia no vencimento`,
        `installment ${code}: what it owed on its due date`,
      ),
      steps: [
        lines.length === 0
          ? either(
              `valor previsto ${scheduled}: o valor de face, porque nenhum pagamento antecipado deixou crédito nela`,
              `scheduled value ${scheduled}: the face, because no prepayment left a credit on it`,
            )
          : either(
              `valor previsto ${scheduled}: o valor de face menos os créditos, entre nada e o valor de face`,
              `scheduled value ${scheduled}: the face less its credits, between nothing and the face`,
            ),
        `${either('valor pago', 'settled value')} ${amount(settledValue)}${difference === 0 ? '' : `, ${state}`}`,
        `${lateDays} ${either('dia(s) depois do vencimento', 'day(s) after the due date')}`,
      ],
    };
  },
  PrepaymentProcessed: ({ partial, ...event }, _, { amount, exact, date, either }) => {
    const [payoff, paid] = [amount(event.payoffValue), amount(event.prepaymentValue)];
    const [rest, excess] = [amount(event.remainingBalance), amount(event.excessValue)];
    const credited = ({ installmentCode, credit, outstandingAtDue }: NonNullable<typeof partial>): string => {
      const [value, day, owed] = [exact(credit.value), date(credit.date), amount(outstandingAtDue)];
      return either(
        `${installmentCode}: crédito de R$ ${value} em ${day}, restam ${owed} no vencimento`,
        `${installmentCode}: credit R$ ${value} of ${day}, leaves ${owed} on its due date`,
      );
    };
    return {
      title: `${either('valor de quitação em', 'payoff value on')} ${date(event.prepaymentDate)}`,
      steps: [
        either(`valor de quitação ${payoff}, pago ${paid}`, `payoff value ${payoff}, paid ${paid}`),
        ...event.lines.map(
          ({ installmentCode, presentValue, paidOff }) =>
            `${installmentCode}: ${amount(presentValue)} ${paidOff ? either('quitada', 'paid off') : either('alcançada, não quitada', 'reached, not paid off')}`,
        ),
        ...(partial ? [credited(partial)] : []),
        either(`saldo restante ${rest}, excedente ${excess}`, `remaining balance ${rest}, excess ${excess}`),
      ],
    };
  },
  RepurchaseRequested: (event, { basis }, { amount, date, exit, either }) => {
    const value = basis?.value === undefined ? either('(desconhecido)', '(unknown)') : amount(basis.value);
    const from =
      basis?.of === 'disbursed_value'
        ? either(`o valor desembolsado ${value}`, `the disbursed value ${value}`)
        : either(
            `o valor de aquisição ${value} (desembolsada antes de as saídas seguirem o valor desembolsado)`,
            `the acquisition value ${value} (disbursed before exits followed the disbursed value)`,
          );
    const received = amount(event.receivedValue);
    const rules: Readonly<Record<ExitPricing, string>> = {
      present_value: either('valor presente do que está aberto', 'present value of what is open'),
      given_value: from,
      given_less_received: either(
        `${from} menos ${received} já recebidos, nunca abaixo de zero`,
        `${from} less ${received} received, never below nothing`,
      ),
    };
    const source =
      event.valueSource === 'informed'
        ? either('como o integrador informou', 'as the integrator informed')
        : either('como calculado', 'as calculated');
    return {
      title: `${exit(event.reason)} ${either('em', 'on')} ${date(event.effectiveDate)}: ${rules[EXITS[event.reason].pricing]}`,
      steps: [
        `${either('valor calculado', 'calculated value')} ${amount(event.calculatedValue)}`,
        `${either('valor da saída', 'repurchase value')} ${amount(event.repurchaseValue)}, ${source}`,
        either(`${received} já tinham sido recebidos`, `${received} had been received before`),
      ],
    };
  },
};

export const priceText = (event: LoanEvent, price: ExplainedPrice, writing: Writing): PriceText =>
  (WRITERS[event.type as PricedEvent['type']] as Writer<LoanEvent>)(event, price, writing);
