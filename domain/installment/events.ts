import type { CalendarDate } from '../shared/calendar-date.ts';
import type { InstallmentCode, Timestamp } from '../shared/identifiers.ts';
import type { Cents } from '../shared/money.ts';

export const PAYMENT_METHODS = ['direct_debit', 'boleto', 'pix', 'transfer', 'other'] as const;
export type PaymentMethod = (typeof PAYMENT_METHODS)[number];

export interface InstallmentSettled {
  readonly type: 'InstallmentSettled';
  readonly installmentCode: InstallmentCode;
  readonly settledAt: CalendarDate;
  readonly settledValue: Cents;
  /** What the installment owed: its face value, or what prepayment credits left of it at its due date. */
  readonly scheduledValue: Cents;
  readonly paymentMethod: PaymentMethod;
  /** Calendar days after the due date; 0 when on time or early. */
  readonly lateDays: number;
  readonly processedAt: Timestamp;
}

/** Follows InstallmentSettled in the same append when less than the scheduled value came in. */
export interface InstallmentUnderpaid {
  readonly type: 'InstallmentUnderpaid';
  readonly installmentCode: InstallmentCode;
  readonly scheduledValue: Cents;
  readonly settledValue: Cents;
  readonly difference: Cents;
  readonly settledAt: CalendarDate;
  readonly processedAt: Timestamp;
}

export interface InstallmentBecameOverdue {
  readonly type: 'InstallmentBecameOverdue';
  readonly installmentCode: InstallmentCode;
  readonly dueDate: CalendarDate;
  readonly recordedAt: Timestamp;
}

export type InstallmentEvent = InstallmentSettled | InstallmentUnderpaid | InstallmentBecameOverdue;
