import { allocatePrepayment } from '../curve/prepayment.ts';
import { isOpen } from '../installment/index.ts';
import { LARGEST_AMOUNT, addCents, subtractCents } from '../shared/money.ts';
import type { ProcessPrepayment } from './commands.ts';
import type { LoanFullySettled, PrepaymentProcessed } from './events.ts';
import {
  requireActive,
  requireLoan,
  requireNotBeforeIssue,
  requirePositive,
  valueOutOfRange,
} from './refusals.ts';
import type { LoanState } from './state.ts';

/** Takes money in advance: finds what it pays off, leaves the rest as a credit, and closes the operation when it covers all. */
export const processPrepayment = (
  command: ProcessPrepayment,
  state: LoanState,
): readonly (PrepaymentProcessed | LoanFullySettled)[] => {
  const { prepaymentValue, prepaymentDate, paymentMethod, now } = command;
  requirePositive('prepayment_value', prepaymentValue);
  const loan = requireLoan(state);
  requireNotBeforeIssue(loan, 'prepayment_date', prepaymentDate);
  const { pricing, installments, receivedValue } = requireActive(loan, 'a prepayment');
  const payment = { value: prepaymentValue, date: prepaymentDate };
  const allocation = allocatePrepayment(pricing.dailyFactor, installments.filter(isOpen), payment);
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
