import type { CalendarDate } from '../../domain/shared/calendar-date.ts';
import type { NotifiedPaymentRow } from '../../projections/reconciliation/notified-payment.ts';

/** With the operation's code; amounts in integer cents. */
export type NotifiedPayment = Omit<NotifiedPaymentRow, 'stream' | 'revision' | 'recorded_at'> & {
  readonly code: string;
  /** When the administrator processed a repurchase; null before that, and for the other kinds. */
  readonly completed_at: string | null;
};

export interface PaymentPeriod {
  readonly fundId: string;
  /** Business dates, both inclusive. */
  readonly from: CalendarDate;
  readonly to: CalendarDate;
}

/** Reads of the reconciliation read model. */
export interface NotifiedPayments {
  /** In pages, ordered by date, then by operation and place in its stream: the same rows come in the same order on every engine. */
  within(period: PaymentPeriod): AsyncIterable<readonly NotifiedPayment[]>;
  /** Which of these, at most 500, are codes of operations of the fund, paid or not. */
  operationsAmong(fundId: string, codes: readonly string[]): Promise<readonly string[]>;
}
