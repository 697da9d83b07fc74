import { explainPresentValue } from '../../domain/curve/explained-value.ts';
import type { ExplainedLine } from '../../domain/curve/explained-value.ts';
import type { OpenInstallment } from '../../domain/installment/installment.ts';
import { exitBasisValue, openInstallments } from '../../domain/loan/state.ts';
import { owesSchedule } from '../../domain/loan/statuses.ts';
import { EXITS } from '../../domain/loan/exits.ts';
import type { LoanEvent, LoanState } from '../../domain/loan/index.ts';
import type { Cents } from '../../domain/shared/money.ts';

export interface ExplainedPrice {
  /** On the curve, where it follows the curve; in the order in which amounts were added up. */
  readonly lines: readonly ExplainedLine[];
  /** What a reversal or a resolution starts from; `value` undefined where nothing says it. */
  readonly basis?: {
    readonly of: 'disbursed_value' | 'acquisition_value';
    readonly value: Cents | undefined;
  };
}

const openOf = (state: LoanState): readonly OpenInstallment[] =>
  'changed' in state ? openInstallments(state) : [];

const factorOf = (state: LoanState): string => ('pricing' in state ? state.pricing.dailyFactor : '1');

const EXPLAINED: {
  readonly [Type in 'LoanReceived' | 'InstallmentSettled' | 'PrepaymentProcessed' | 'RepurchaseRequested']: (
    event: Extract<LoanEvent, { readonly type: Type }>,
    before: LoanState,
  ) => ExplainedPrice;
} = {
  LoanReceived: ({ pricing, installments, dateIssued }) => ({
    lines: explainPresentValue(
      pricing.dailyFactor,
      installments.map((one) => ({ ...one, credits: [] })),
      dateIssued,
    ),
  }),
  InstallmentSettled: ({ installmentCode }, before) => {
    const installment = openOf(before).find(({ code }) => code === installmentCode);
    const credited = installment !== undefined && installment.credits.length > 0;
    return {
      lines: credited ? explainPresentValue(factorOf(before), [installment], installment.dueDate) : [],
    };
  },
  PrepaymentProcessed: ({ prepaymentDate }, before) => ({
    lines: explainPresentValue(factorOf(before), openOf(before), prepaymentDate),
  }),
  RepurchaseRequested: ({ reason, effectiveDate }, before) => {
    const ofDisbursed = 'exitBasis' in before && before.exitBasis === 'disbursed_value';
    const { pricing } = EXITS[reason];
    return {
      lines:
        pricing === 'present_value'
          ? explainPresentValue(factorOf(before), openOf(before), effectiveDate)
          : [],
      basis: {
        of: ofDisbursed ? 'disbursed_value' : 'acquisition_value',
        value: 'exitBasis' in before ? exitBasisValue(before) : undefined,
      },
    };
  },
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
