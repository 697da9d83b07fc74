import { allocatePrepayment } from '../curve/prepayment.ts';
import { outstandingAtDueDate } from '../curve/present-value.ts';
import { againstSchedule, isOpen } from '../installment/installment.ts';
import type {
  Installment,
  InstallmentBecameOverdue,
  InstallmentEvent,
  InstallmentSettled,
  InstallmentUnderpaid,
  Settlement,
} from '../installment/installment.ts';
import { daysBetween } from '../shared/calendar-date.ts';
import type { CalendarDate } from '../shared/calendar-date.ts';
import { DomainError } from '../shared/domain-error.ts';
import type { InstallmentCode, Timestamp } from '../shared/identifiers.ts';
import { LARGEST_AMOUNT, ZERO, addCents, subtractCents } from '../shared/money.ts';
import type { Cents } from '../shared/money.ts';
import type { MarkInstallmentsOverdue, ProcessPrepayment, SettleInstallment } from './commands.ts';
import type { LoanFullySettled, PrepaymentProcessed } from './events.ts';
import {
  installmentAt,
  openInstallments,
  requireActive,
  requireLoan,
  requireNotBeforeIssue,
  requirePositive,
  valueOutOfRange,
} from './state.ts';
import type { ExistingLoan, LoanState } from './state.ts';

/** What an installment owes on its due date, in cents; nothing once it is closed. */
export const outstandingAtDue = (installment: Installment, dailyFactor: string): Cents =>
  isOpen(installment) ? outstandingAtDueDate(dailyFactor, installment) : ZERO;

/** Missing money becomes a known difference, excess charges. @throws DomainError `installment_already_closed` */
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
  const { difference } = againstSchedule(settled);
  if (difference === ZERO) return [settled];
  const underpaid: InstallmentUnderpaid = {
    type: 'InstallmentUnderpaid',
    installmentCode: installment.code,
    scheduledValue,
    settledValue,
    difference,
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

const requireInstallment = (loan: ExistingLoan, code: InstallmentCode): number => {
  const index = loan.schedule.codes.indexOf(code);
  if (index >= 0) return index;
  const message = `operation ${loan.code} has no installment ${code}; use a code that was sent at its creation`;
  throw new DomainError('installment_not_found', message, [
    { field: 'installment_code', code: 'installment_not_found', message },
  ]);
};

/** The order of these checks is part of the interface: operation, installment, date, operation's status, installment's. */
export const settleInstallment = (
  command: SettleInstallment,
  state: LoanState,
): readonly (InstallmentEvent | LoanFullySettled)[] => {
  requirePositive('settled_value', command.settledValue);
  const loan = requireLoan(state);
  const index = requireInstallment(loan, command.installmentCode);
  requireNotBeforeIssue(loan, 'settled_at', command.settledAt);
  const active = requireActive(loan, 'a settlement');
  const events = settle(installmentAt(active, index), command, active.pricing.dailyFactor);
  if (active.openCount > 1) return events;
  const closing: LoanFullySettled = {
    type: 'LoanFullySettled',
    settledAt: command.settledAt,
    closingEvent: 'installment_settled',
    totalReceived: addCents(active.receivedValue, command.settledValue),
    processedAt: command.now,
  };
  return [...events, closing];
};

/** Sent by a timer, so it answers nothing rather than refusing when there is nothing to mark. */
export const markInstallmentsOverdue = (
  { today, now }: MarkInstallmentsOverdue,
  state: LoanState,
): readonly InstallmentEvent[] =>
  state.status === 'active'
    ? state.schedule.dueDates.flatMap((dueDate, index) =>
        dueDate < today ? becomeOverdue(installmentAt(state, index), today, now) : [],
      )
    : [];

/** What rounding left below zero is in `partial` too, but no money reached it: told only with a line for it. */
export const partiallyPaid = ({ partial, lines }: PrepaymentProcessed): PrepaymentProcessed['partial'] => {
  const isTold =
    !partial?.credit.value.startsWith('-') || lines.at(-1)?.installmentCode === partial.installmentCode;
  return isTold ? partial : undefined;
};

/** Takes money in advance: finds what it pays off, leaves the rest as a credit, and closes the operation when it covers all. */
export const processPrepayment = (
  command: ProcessPrepayment,
  state: LoanState,
): readonly (PrepaymentProcessed | LoanFullySettled)[] => {
  const { prepaymentValue, prepaymentDate, paymentMethod, now } = command;
  requirePositive('prepayment_value', prepaymentValue);
  const loan = requireLoan(state);
  requireNotBeforeIssue(loan, 'prepayment_date', prepaymentDate);
  const active = requireActive(loan, 'a prepayment');
  const { pricing, receivedValue } = active;
  const payment = {
    value: prepaymentValue,
    date: prepaymentDate,
    ...(command.leftover && { leftover: command.leftover }),
  };
  const allocation = allocatePrepayment(pricing.dailyFactor, openInstallments(active), payment);
  if (allocation.payoffValue > LARGEST_AMOUNT) {
    throw valueOutOfRange('prepayment_date', prepaymentDate, 'settle its installments one by one');
  }
  const processed: PrepaymentProcessed = {
    type: 'PrepaymentProcessed',
    prepaymentValue,
    prepaymentDate,
    paymentMethod,
    ...allocation,
    pricing,
    processedAt: now,
  };
  if (prepaymentValue < allocation.payoffValue) return [processed];
  const closing: LoanFullySettled = {
    type: 'LoanFullySettled',
    settledAt: prepaymentDate,
    closingEvent: 'installment_prepaid',
    totalReceived: addCents(receivedValue, subtractCents(prepaymentValue, allocation.excessValue)),
    processedAt: now,
  };
  return [processed, closing];
};
