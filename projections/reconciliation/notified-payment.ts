import type { RepurchaseReason } from '../../domain/loan/events.ts';

export type PaymentKind = 'settlement' | 'prepayment' | 'repurchase';

/** A movement of money that an integrator notified. Amounts in integer cents. */
export interface NotifiedPaymentRow {
  readonly stream: string;
  readonly revision: number;
  readonly event_id: string;
  readonly kind: PaymentKind;
  /** Only of a repurchase. */
  readonly reason: RepurchaseReason | null;
  /** Only of a settlement. */
  readonly installment_code: string | null;
  /** Business date: settled_at, prepayment_date or effective_date. */
  readonly date: string;
  readonly amount: number;
  /** What was owed: the scheduled value, the payoff value, or the calculated repurchase value. */
  readonly owed_value: number;
  /** A settlement's difference to the scheduled value, when less came in. */
  readonly underpaid_value: number;
  /** What is above the owed value. */
  readonly excess_value: number;
  /** What a prepayment lacks to pay off the installment that it reached last, or a repurchase to its calculated value. */
  readonly shortfall_value: number;
  /** Money received before a repurchase; 0 for the other kinds. */
  readonly received_before: number;
  readonly recorded_at: string;
}
