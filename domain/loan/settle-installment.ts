import { becomeOverdue, isOpen, settle } from '../installment/index.ts';
import type { InstallmentEvent } from '../installment/events.ts';
import { addCents } from '../shared/money.ts';
import { DomainError } from '../shared/domain-error.ts';
import type { MarkInstallmentsOverdue, SettleInstallment } from './commands.ts';
import type { LoanFullySettled } from './events.ts';
import { requireActive, requireLoan, requireNotBeforeIssue, requirePositive } from './refusals.ts';
import type { ExistingLoan, LoanState } from './state.ts';

const requireInstallment = (loan: ExistingLoan, code: string): number => {
  const index = loan.indexByCode.get(code);
  if (index !== undefined) return index;
  throw new DomainError(
    'installment_not_found',
    `operation ${loan.code} has no installment ${code}; use a code that was sent at its creation`,
  );
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
  const installment = active.installments[index];
  if (!installment) throw new RangeError(`installment ${index} is in the schedule and not in the books`);
  const events = settle(installment, command, active.pricing.dailyFactor);
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
    ? state.installments.filter(isOpen).flatMap((installment) => becomeOverdue(installment, today, now))
    : [];
