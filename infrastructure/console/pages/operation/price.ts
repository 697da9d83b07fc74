import type { ExplainedPrice, PricedEvent } from '../../../../application/audit/explained-price.ts';
import { EXITS } from '../../../../domain/loan/exits.ts';
import type { ExitPricing } from '../../../../domain/curve/repurchase-value.ts';
import type { LoanEvent } from '../../../../domain/loan/index.ts';
import { amount, count, date, exact } from '../../format.ts';
import { either, spoken } from '../../language.ts';
import type { CarriedAmount, ExplainedLine } from '../../../../domain/curve/explained-value.ts';
import { html, tableView } from '../../html.ts';
import type { View } from '../../html.ts';
import { words } from '../words.ts';
import { texts } from './texts.ts';

interface PriceText {
  readonly title: string;
  readonly steps: readonly string[];
}

type Writer<Event> = (event: Event, price: ExplainedPrice) => PriceText;

const present = (...steps: readonly (string | false | undefined)[]): readonly string[] =>
  steps.filter((step) => typeof step === 'string');

const WRITERS: {
  readonly [Type in PricedEvent['type']]: Writer<Extract<PricedEvent, { readonly type: Type }>>;
} = {
  LoanReceived: ({ pricing, dateIssued, acquisitionValue }) => ({
    title: either(
      `Fator diário ${exact(pricing.dailyFactor)}: com ele, os valores de face, cada um trazido a ${date(dateIssued)}, somam o valor de aquisição.`,
      `Daily factor ${exact(pricing.dailyFactor)}: with it the faces, each carried back to ${date(dateIssued)}, add up to the acquisition value.`,
    ),
    steps: [`${either('Valor de aquisição', 'Acquisition value')}: ${amount(acquisitionValue)}`],
  }),
  InstallmentSettled: ({ installmentCode, scheduledValue, settledValue, lateDays }, { lines }) => {
    const [scheduled, difference] = [amount(scheduledValue), settledValue - scheduledValue];
    const [missing, above] = [amount(-difference), amount(difference)];
    return {
      title: either(
        `Parcela ${installmentCode}: o que devia no vencimento`,
        `Installment ${installmentCode}: what it owed on its due date`,
      ),
      steps: present(
        lines.length === 0
          ? either(
              `Valor previsto: ${scheduled}, o valor de face, porque nenhum pagamento antecipado deixou crédito nela`,
              `Scheduled value: ${scheduled}, the face, because no prepayment left a credit on it`,
            )
          : either(
              `Valor previsto: ${scheduled}, o valor de face menos os créditos, entre nada e o valor de face`,
              `Scheduled value: ${scheduled}, the face less its credits, between nothing and the face`,
            ),
        `${either('Valor pago', 'Settled value')}: ${amount(settledValue)}`,
        difference < 0 && either(`Faltaram ${missing}`, `${missing} missing`),
        difference > 0 &&
          `${above} ${either('a mais, guardados como encargos', 'above it, kept as charges')}`,
        `${count(lateDays)} ${either('dia(s) depois do vencimento', 'day(s) after the due date')}`,
      ),
    };
  },
  PrepaymentProcessed: ({ partial, ...event }) => {
    const [payoff, paid] = [amount(event.payoffValue), amount(event.prepaymentValue)];
    const [rest, excess] = [amount(event.remainingBalance), amount(event.excessValue)];
    const credited = (one: NonNullable<typeof partial>): string => {
      const [credit, day] = [exact(one.credit.value), date(one.credit.date)];
      const owed = amount(one.outstandingAtDue);
      return either(
        `${one.installmentCode}: crédito de R$ ${credit} em ${day}; restam ${owed} no vencimento`,
        `${one.installmentCode}: credit of R$ ${credit} on ${day}; leaves ${owed} on its due date`,
      );
    };
    return {
      title: `${either('Valor de quitação em', 'Payoff value on')} ${date(event.prepaymentDate)}`,
      steps: present(
        either(`Valor de quitação: ${payoff}; pago: ${paid}`, `Payoff value: ${payoff}; paid: ${paid}`),
        ...event.lines.map(
          ({ installmentCode, presentValue, paidOff }) =>
            `${installmentCode}: ${amount(presentValue)}, ${paidOff ? either('quitada', 'paid off') : either('alcançada, não quitada', 'reached, not paid off')}`,
        ),
        partial && credited(partial),
        either(
          `Saldo restante: ${rest}; excedente: ${excess}`,
          `Remaining balance: ${rest}; excess: ${excess}`,
        ),
      ),
    };
  },
  RepurchaseRequested: (event, { basis }) => {
    const value = basis ? amount(basis.value) : either('(desconhecido)', '(unknown)');
    const from =
      basis?.of === 'disbursed_value'
        ? `${either('o valor desembolsado', 'the disbursed value')}, ${value}`
        : either(
            `o valor de aquisição, ${value} (desembolsada antes de as saídas seguirem o valor desembolsado)`,
            `the acquisition value, ${value} (disbursed before exits followed the disbursed value)`,
          );
    const received = amount(event.receivedValue);
    const rules: Readonly<Record<ExitPricing, string>> = {
      present_value: either('valor presente do que está aberto', 'present value of what is open'),
      given_value: from,
      given_less_received: either(
        `${from}, menos ${received} já recebidos, nunca abaixo de zero`,
        `${from}, less ${received} received, never below nothing`,
      ),
    };
    const { name, pricing } = EXITS[event.reason];
    const source =
      event.valueSource === 'informed'
        ? either('como o integrador informou', 'as the integrator informed')
        : either('como calculado', 'as calculated');
    return {
      title: `${name[spoken()]} ${either('em', 'on')} ${date(event.effectiveDate)}: ${rules[pricing]}`,
      steps: [
        `${either('Valor calculado', 'Calculated value')}: ${amount(event.calculatedValue)}`,
        `${either('Valor da saída', 'Exit value')}: ${amount(event.repurchaseValue)}, ${source}`,
        `${either('Recebidos antes', 'Received before')}: ${received}`,
      ],
    };
  },
};

const priceText = (event: LoanEvent, price: ExplainedPrice): PriceText =>
  (WRITERS[event.type as PricedEvent['type']] as Writer<LoanEvent>)(event, price);

interface Part {
  readonly name: string;
  readonly carried: CarriedAmount;
  readonly line: ExplainedLine | undefined;
}

const partsOf = (line: ExplainedLine, credit: string): readonly Part[] =>
  [line.face, ...line.credits].map((carried, i) => ({
    name: i === 0 ? line.installmentCode : `− ${credit}`,
    carried,
    line: i === line.credits.length ? line : undefined,
  }));

export const linesView = (lines: readonly ExplainedLine[]): View => {
  if (lines.length === 0) return null;
  // Exact numbers keep all their digits: the copy of a cell can be checked by a calculator.
  return tableView(
    { label: texts.lineByLine, dense: true },
    [
      [words.installment, ({ name }) => name, 'code'],
      [texts.date, ({ carried }) => date(carried.date)],
      [texts.inReais, ({ carried }) => exact(carried.amount), 'number'],
      [texts.days, ({ carried }) => count(carried.days), 'number'],
      [texts.power, ({ carried }) => exact(carried.factor), 'number'],
      [texts.carried, ({ carried }) => exact(carried.carried), 'number'],
      [texts.running, ({ line }) => line && exact(line.runningTotal), 'number'],
      [texts.rounded, ({ line }) => line && amount(line.roundedTotal), 'number'],
      [words.value, ({ line }) => line && amount(line.presentValue), 'number'],
    ],
    lines.flatMap((line) => partsOf(line, texts.credit)),
  );
};

export const priceView = (event: LoanEvent, price: ExplainedPrice): View => {
  const { title, steps } = priceText(event, price);
  return html`
    <h3>${texts.price}</h3>
    <p>${title}</p>
    ${linesView(price.lines)}
    <ul>
      ${steps.map((step) => html`<li>${step}</li>`)}
    </ul>
  `;
};
