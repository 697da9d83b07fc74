import type { ApproveLoan, DisburseLoan, RejectLoan, SignLoanTerm } from './commands.ts';
import type { LoanApproved, LoanDisbursed, LoanRejected, LoanTermSigned } from './events.ts';
import { requireLoan, requirePositive, wrongStatus } from './refusals.ts';
import type { LoanState } from './state.ts';

/*
 * The administrator's steps from reception to an active operation. A step that lies behind the operation changes nothing, so
 * that a decision delivered twice is harmless; one that skips a step or contradicts an earlier decision is refused.
 */

export const approveLoan = (command: ApproveLoan, state: LoanState): readonly LoanApproved[] => {
  const loan = requireLoan(state);
  if (loan.status === 'received') return [{ type: 'LoanApproved', approvedAt: command.now }];
  if (loan.status === 'rejected')
    throw wrongStatus(loan, 'a rejection is final, so assign the loan under a new code');
  return [];
};

export const rejectLoan = (command: RejectLoan, state: LoanState): readonly LoanRejected[] => {
  const loan = requireLoan(state);
  if (loan.status === 'received') {
    if (loan.origin) throw wrongStatus(loan, 'a renegotiation brought it in, which is decided for good');
    return [{ type: 'LoanRejected', rejectedAt: command.now, reasons: command.reasons }];
  }
  if (loan.status === 'rejected') return [];
  throw wrongStatus(loan, 'only an operation that awaits its eligibility decision can be rejected');
};

export const signLoanTerm = (command: SignLoanTerm, state: LoanState): readonly LoanTermSigned[] => {
  const loan = requireLoan(state);
  if (loan.status === 'approved') return [{ type: 'LoanTermSigned', signedAt: command.now }];
  if (loan.status === 'received') throw wrongStatus(loan, 'approve it before its term is signed');
  if (loan.status === 'rejected') throw wrongStatus(loan, 'a rejected operation has no term to sign');
  return [];
};

export const disburseLoan = (command: DisburseLoan, state: LoanState): readonly LoanDisbursed[] => {
  requirePositive('disbursed_value', command.disbursedValue);
  const loan = requireLoan(state);
  if (loan.status === 'term_signed') {
    const { disbursedValue = loan.acquisitionValue, disbursedAt = command.now } = command;
    const { origin } = loan;
    return [{ type: 'LoanDisbursed', disbursedValue, disbursedAt, ...(origin && { renegotiation: origin }) }];
  }
  if (loan.status === 'received' || loan.status === 'approved') {
    throw wrongStatus(loan, 'its term has to be signed before the disbursement');
  }
  if (loan.status === 'rejected') throw wrongStatus(loan, 'a rejected operation is never disbursed');
  return [];
};
