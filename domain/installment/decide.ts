import { outstandingAtDueDate } from '../curve/present-value.ts';
import { daysBetween } from '../shared/calendar-date.ts';
import type { CalendarDate } from '../shared/calendar-date.ts';
import { DomainError } from '../shared/domain-error.ts';
import type { Timestamp } from '../shared/identifiers.ts';
import { ZERO, subtractCents } from '../shared/money.ts';
import type { Cents } from '../shared/money.ts';
import { isOpen } from './state.ts';
import type {
  Installment,
  InstallmentBecameOverdue,
  InstallmentSettled,
  InstallmentUnderpaid,
  PaymentMethod,
} from './state.ts';

export interface Settlement {
  readonly settledAt: CalendarDate;
  readonly settledValue: Cents;
  readonly paymentMethod: PaymentMethod;
  readonly now: Timestamp;
}

/** What an installment owes on its due date, in cents; nothing once it is closed. */
export const outstandingAtDue = (installment: Installment, dailyFactor: string): Cents =>
  isOpen(installment) ? outstandingAtDueDate(dailyFactor, installment) : ZERO;

/**
 * Records a payment of one installment. Whatever came in closes it: what is missing becomes a known difference, and what is
 * too much stays here as charges.
 *
 * @throws DomainError `installment_already_closed`
 */
export const settle = (
  installment: Installment,
  settlement: Settlement,
  dailyFactor: string,
): readonly (InstallmentSettled | InstallmentUnderpaid)[] => {
  if (!isOpen(installment)) throw alreadyClosed(installment);
  const { settledAt, settledValue, paymentMethod, now } = settlement;
  const scheduledValue = outstandingAtDue(installment, dailyFactor);
  const settled: InstallmentSettled = {
    type: 'InstallmentSettled',
    installmentCode: installment.code,
    settledAt,
    settledValue,
    scheduledValue,
    paymentMethod,
    lateDays: Math.max(0, daysBetween(installment.dueDate, settledAt)),
    processedAt: now,
  };
  if (settledValue >= scheduledValue) return [settled];
  const underpaid: InstallmentUnderpaid = {
    type: 'InstallmentUnderpaid',
    installmentCode: installment.code,
    scheduledValue,
    settledValue,
    difference: subtractCents(scheduledValue, settledValue),
    settledAt,
    processedAt: now,
  };
  return [settled, underpaid];
};

const alreadyClosed = (installment: Installment): DomainError =>
  new DomainError(
    'installment_already_closed',
    `installment ${installment.code} is already ${installment.status}; send no second payment for it, and repeat the ` +
      'original idempotency_key to see the first one again',
  );

/** The due date has passed once `today` is later. */
export const becomeOverdue = (
  installment: Installment,
  today: CalendarDate,
  now: Timestamp,
): readonly InstallmentBecameOverdue[] =>
  installment.status === 'pending' && installment.dueDate < today
    ? [
        {
          type: 'InstallmentBecameOverdue',
          installmentCode: installment.code,
          dueDate: installment.dueDate,
          recordedAt: now,
        },
      ]
    : [];
