import type { CalendarDate } from '../shared/calendar-date.ts';
import type { InstallmentCode, Timestamp } from '../shared/identifiers.ts';
import type { Cents } from '../shared/money.ts';
import type { PaymentMethod } from './events.ts';

export interface ScheduledInstallment {
  readonly code: InstallmentCode;
  readonly dueDate: CalendarDate;
  readonly faceValue: Cents;
}

/** Part of a prepayment that an installment carries; exact decimal of the currency unit, at the prepayment's date. */
export interface PrepaymentCredit {
  readonly value: string;
  readonly date: CalendarDate;
}

interface Open extends ScheduledInstallment {
  readonly credits: readonly PrepaymentCredit[];
}

export interface PendingInstallment extends Open {
  readonly status: 'pending';
}
export interface OverdueInstallment extends Open {
  readonly status: 'overdue';
}
export interface SettledInstallment extends ScheduledInstallment {
  readonly status: 'settled';
  readonly settledAt: CalendarDate;
  readonly settledValue: Cents;
  readonly scheduledValue: Cents;
  readonly paymentMethod: PaymentMethod;
  readonly processedAt: Timestamp;
}
export interface PrepaidInstallment extends ScheduledInstallment {
  readonly status: 'prepaid';
  readonly settledAt: CalendarDate;
  readonly paymentMethod: PaymentMethod;
}

export type OpenInstallment = PendingInstallment | OverdueInstallment;
export type ClosedInstallment = SettledInstallment | PrepaidInstallment;
export type Installment = OpenInstallment | ClosedInstallment;
