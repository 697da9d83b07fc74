import type { CalendarDate } from '../shared/calendar-date.ts';
import { DomainError } from '../shared/domain-error.ts';
import type { FieldViolation } from '../shared/domain-error.ts';
import type { LoanCode } from '../shared/identifiers.ts';
import { formatCents } from '../shared/money.ts';
import type { Cents } from '../shared/money.ts';
import type { ActiveLoan, ExistingLoan, LoanState } from './state.ts';

/** `code` is named by the refusal of a request that is about several operations. */
export const requireLoan = (state: LoanState, code?: LoanCode): ExistingLoan => {
  if (state.status !== 'none' && state.status !== 'code_reserved') return state;
  const missing =
    code === undefined
      ? 'no operation has this code; check originator_proposal_code'
      : `no operation has the code ${code}; check the codes of the originals`;
  throw new DomainError('loan_not_found', missing);
};

/** @param rule what the step needs, and what to do instead */
export const wrongStatus = (loan: ExistingLoan, rule: string): DomainError =>
  new DomainError('operation_invalid_state', `operation ${loan.code} is ${loan.status}; ${rule}`);

export const requireActive = (loan: ExistingLoan, action: string): ActiveLoan => {
  if (loan.status === 'active') return loan;
  throw wrongStatus(
    loan,
    `${action} needs an active operation, so read its status again before the next attempt`,
  );
};

export const codeAlreadyUsed = (code: LoanCode): DomainError =>
  new DomainError(
    'proposal_code_already_used',
    `another operation already has the code ${code}; choose a new originator_proposal_code`,
  );

const onField = (code: 'invalid_date' | 'validation_error', violation: FieldViolation): DomainError =>
  new DomainError(code, violation.message, [violation]);

export const requireNotBeforeIssue = (loan: ExistingLoan, field: string, date: CalendarDate): void => {
  if (date >= loan.dateIssued) return;
  const message = `${field} ${date} comes before the issue of the operation; send ${loan.dateIssued} or a later date`;
  throw onField('invalid_date', { field, code: 'invalid_date', message });
};

export const requirePositive = (field: string, value: Cents | undefined): void => {
  if (value === undefined || value > 0) return;
  const message = `${field} is ${formatCents(value)}; send an amount above zero`;
  throw onField('validation_error', { field, code: 'invalid_amount', message });
};

/** A short loan left open for years outgrows every amount; nothing is decided on a value that is not the true one. */
export const valueOutOfRange = (field: string, date: CalendarDate, remedy: string): DomainError => {
  const message = `the curve's value on ${date} exceeds every amount that can be stated; ${remedy}`;
  return onField('invalid_date', { field, code: 'value_out_of_range', message });
};
