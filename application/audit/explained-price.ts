import { explainPresentValue } from '../../domain/curve/explained-value.ts';
import type { ExplainedLine } from '../../domain/curve/explained-value.ts';
import type { OpenInstallment } from '../../domain/installment/installment.ts';
import { exitBasisValue, openInstallments } from '../../domain/loan/state.ts';
import { owesSchedule } from '../../domain/loan/statuses.ts';
import { EXITS } from '../../domain/loan/exits.ts';
import type { ExitPricing } from '../../domain/curve/repurchase-value.ts';
import type { LoanEvent, LoanReceived, LoanState } from '../../domain/loan/index.ts';
import { formatCents } from '../../domain/shared/money.ts';
import type { Cents } from '../../domain/shared/money.ts';

export interface ExplainedPrice {
  readonly title: string;
  /** On the curve, where it follows the curve; in the order in which amounts were added up. */
  readonly lines: readonly ExplainedLine[];
  readonly steps: readonly string[];
  /** What a reversal or a resolution starts from; undefined where nothing says it. */
  readonly basis?: { readonly of: 'disbursed_value' | 'acquisition_value'; readonly value: Cents };
}

const money = (value: Cents): string => `R$ ${formatCents(value)}`;

const ofReception = ({
  acquisitionValue,
  pricing,
  installments,
  dateIssued,
}: LoanReceived): ExplainedPrice => ({
  title: `daily factor ${pricing.dailyFactor}: with it the faces, each carried back to ${dateIssued}, add up to the acquisition value`,
  lines: explainPresentValue(
    pricing.dailyFactor,
    installments.map((one) => ({ ...one, credits: [] })),
    dateIssued,
  ),
  steps: [`acquisition value ${money(acquisitionValue)}`],
});

const openOf = (state: LoanState): readonly OpenInstallment[] =>
  'changed' in state ? openInstallments(state) : [];

const factorOf = (state: LoanState): string => ('pricing' in state ? state.pricing.dailyFactor : '1');

const ofSettlement = (
  event: Extract<LoanEvent, { type: 'InstallmentSettled' }>,
  before: LoanState,
): ExplainedPrice => {
  const installment = openOf(before).find(({ code }) => code === event.installmentCode);
  const owed = installment && installment.credits.length > 0 ? [installment] : [];
  const difference = event.settledValue - event.scheduledValue;
  const state = difference < 0 ? 'missing' : 'above it, kept as charges';
  return {
    title: `installment ${event.installmentCode}: what it owed on its due date`,
    lines: owed.map((one) => explainPresentValue(factorOf(before), [one], one.dueDate)).flat(),
    steps: [
      owed.length === 0
        ? `scheduled value ${money(event.scheduledValue)}: the face, because no prepayment left a credit on it`
        : `scheduled value ${money(event.scheduledValue)}: the face less its credits, between nothing and the face`,
      `settled value ${money(event.settledValue)}${
        difference === 0 ? '' : `, ${money(Math.abs(difference) as Cents)} ${state}`
      }`,
      `${event.lateDays} day(s) after the due date`,
    ],
  };
};

const ofPrepayment = (
  event: Extract<LoanEvent, { type: 'PrepaymentProcessed' }>,
  before: LoanState,
): ExplainedPrice => {
  const { prepaymentValue, prepaymentDate, payoffValue, lines, partial, excessValue, remainingBalance } =
    event;
  const reached = lines.map(
    ({ installmentCode, presentValue, paidOff }) =>
      `${installmentCode}: ${money(presentValue)} ${paidOff ? 'paid off' : 'reached, not paid off'}`,
  );
  return {
    title: `payoff value on ${prepaymentDate}`,
    lines: explainPresentValue(factorOf(before), openOf(before), prepaymentDate),
    steps: [
      `payoff value ${money(payoffValue)}, paid ${money(prepaymentValue)}`,
      ...reached,
      ...(partial
        ? [
            `${partial.installmentCode}: credit R$ ${partial.credit.value} of ${partial.credit.date}, leaves ${money(partial.outstandingAtDue)} on its due date`,
          ]
        : []),
      `remaining balance ${money(remainingBalance)}, excess ${money(excessValue)}`,
    ],
  };
};

const ofRepurchase = (
  event: Extract<LoanEvent, { type: 'RepurchaseRequested' }>,
  before: LoanState,
): ExplainedPrice => {
  const { reason, effectiveDate, calculatedValue, repurchaseValue, valueSource, receivedValue } = event;
  const of =
    'exitBasis' in before && before.exitBasis === 'disbursed_value' ? 'disbursed_value' : 'acquisition_value';
  const value = 'exitBasis' in before ? exitBasisValue(before) : undefined;
  const given = value === undefined ? '(unknown)' : money(value);
  const basis =
    of === 'disbursed_value'
      ? `the disbursed value ${given}`
      : `the acquisition value ${given} (disbursed before exits followed the disbursed value)`;
  const { pricing } = EXITS[reason];
  const rules: Readonly<Record<ExitPricing, string>> = {
    present_value: 'present value of what is open',
    given_value: basis,
    given_less_received: `${basis} less ${money(receivedValue)} received, never below nothing`,
  };
  return {
    title: `${reason} on ${effectiveDate}: ${rules[pricing]}`,
    lines:
      pricing === 'present_value' ? explainPresentValue(factorOf(before), openOf(before), effectiveDate) : [],
    steps: [
      `calculated value ${money(calculatedValue)}`,
      `repurchase value ${money(repurchaseValue)}, ${valueSource === 'informed' ? 'as the integrator informed' : 'as calculated'}`,
      `${money(receivedValue)} had been received before`,
    ],
    ...(value !== undefined && { basis: { of, value } }),
  };
};

const EXPLAINED = {
  LoanReceived: ofReception,
  InstallmentSettled: ofSettlement,
  PrepaymentProcessed: ofPrepayment,
  RepurchaseRequested: ofRepurchase,
};

export type PricedEvent = Extract<LoanEvent, { readonly type: keyof typeof EXPLAINED }>;

export const statesPrice = (event: LoanEvent): event is PricedEvent => event.type in EXPLAINED;

export const explainPrice = (event: LoanEvent, before: LoanState): ExplainedPrice | undefined =>
  statesPrice(event)
    ? (EXPLAINED[event.type] as (event: PricedEvent, before: LoanState) => ExplainedPrice)(event, before)
    : undefined;

/** What everything open is worth on a day; nothing once the operation has left `active`. */
export const explainPayoff = (
  state: LoanState,
  date: Extract<LoanEvent, { type: 'PrepaymentProcessed' }>['prepaymentDate'],
): readonly ExplainedLine[] =>
  'pricing' in state && owesSchedule(state.status)
    ? explainPresentValue(factorOf(state), openOf(state), date)
    : [];
