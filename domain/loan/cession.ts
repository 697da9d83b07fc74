import type { ApproveLoan, DisburseLoan, RejectLoan, SignLoanTerm } from './commands.ts';
import type { LoanApproved, LoanDisbursed, LoanRejected, LoanTermSigned, RejectionReason } from './events.ts';
import { decided } from './events.ts';
import { requireLoan, requireNotBeforeIssue, requirePositive, wrongStatus } from './state.ts';
import { formatCents } from '../shared/money.ts';
import type { ExistingLoan, LoanBooks, LoanState, TermSignedLoan } from './state.ts';

/*
 * The administrator's steps from reception to an active operation. A step that lies behind the operation changes nothing, so
 * that a decision delivered twice is harmless; one that skips a step or contradicts an earlier decision is refused.
 */

export const approveLoan = (command: ApproveLoan, state: LoanState): readonly LoanApproved[] => {
  const loan = requireLoan(state);
  if (loan.status === 'received')
    return [{ type: 'LoanApproved', approvedAt: command.now, ...decided(command) }];
  if (loan.status === 'rejected')
    throw wrongStatus(loan, 'a rejection is final, so assign the loan under a new code');
  return [];
};

export const rejectLoan = (command: RejectLoan, state: LoanState): readonly LoanRejected[] => {
  const loan = requireLoan(state);
  const decidable =
    loan.status === 'received' ||
    (!command.onlyBeforeApproval && (loan.status === 'approved' || loan.status === 'term_signed'));
  if (decidable) {
    if (loan.origin) throw wrongStatus(loan, 'a renegotiation brought it in, which is decided for good');
    const { reasons } = command;
    return [{ type: 'LoanRejected', rejectedAt: command.now, reasons, ...decided(command) }];
  }
  if (loan.status === 'rejected') {
    if (sameReasons(loan.reasons, command.reasons)) return [];
    throw wrongStatus(loan, 'the reasons given first stand');
  }
  throw wrongStatus(
    loan,
    command.onlyBeforeApproval
      ? 'it can be rejected after its approval once no process of release 2026.11.1 runs any more'
      : 'an operation can be rejected until the fund has paid for it',
  );
};

const sameReasons = (some: readonly RejectionReason[], others: readonly RejectionReason[]): boolean =>
  some.length === others.length &&
  some.every(({ code, message }, i) => code === others[i]?.code && message === others[i]?.message);

export const signLoanTerm = (command: SignLoanTerm, state: LoanState): readonly LoanTermSigned[] => {
  const loan = requireLoan(state);
  if (loan.status === 'approved')
    return [{ type: 'LoanTermSigned', signedAt: command.now, ...decided(command) }];
  if (loan.status === 'received') throw wrongStatus(loan, 'approve it before its term is signed');
  if (loan.status === 'rejected') throw wrongStatus(loan, 'a rejected operation has no term to sign');
  return [];
};

export const disburseLoan = (command: DisburseLoan, state: LoanState): readonly LoanDisbursed[] => {
  requirePositive('disbursed_value', command.disbursedValue);
  const loan = requireLoan(state);
  const { disbursementDate } = command;
  if (disbursementDate !== undefined) requireNotBeforeIssue(loan, 'disbursement_date', disbursementDate);
  if (loan.status === 'term_signed') return [disbursement(command, loan)];
  if (loan.status === 'received' || loan.status === 'approved') {
    throw wrongStatus(loan, 'its term has to be signed before the disbursement');
  }
  if (loan.status === 'rejected') throw wrongStatus(loan, 'a rejected operation is never disbursed');
  requireSameDisbursement(command, loan);
  return [];
};

const disbursement = (command: DisburseLoan, loan: TermSignedLoan): LoanDisbursed => {
  const { disbursedValue = loan.acquisitionValue, disbursementDate, exitBasis = 'disbursed_value' } = command;
  const { origin } = loan;
  return {
    type: 'LoanDisbursed',
    disbursedValue,
    disbursedAt: command.now,
    ...(disbursementDate !== undefined && { disbursementDate }),
    // The older rule is the one that no event names.
    ...(exitBasis !== 'acquisition_value' && { exitBasis }),
    ...decided(command),
    ...(origin && { renegotiation: origin }),
  };
};

/** Money that went out is a fact: stating it once more is harmless, stating it otherwise is a mistake that the administrator has to see. */
const requireSameDisbursement = (
  { disbursedValue, disbursementDate }: DisburseLoan,
  loan: ExistingLoan & LoanBooks,
): void => {
  const same =
    (disbursedValue ?? loan.disbursedValue) === loan.disbursedValue &&
    (disbursementDate ?? loan.disbursementDate) === loan.disbursementDate;
  if (same) return;
  const day = loan.disbursementDate === undefined ? '' : ` on ${loan.disbursementDate}`;
  throw wrongStatus(loan, `${formatCents(loan.disbursedValue)} was disbursed for it already${day}`);
};
