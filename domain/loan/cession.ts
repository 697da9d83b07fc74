import { solveDailyFactor } from '../curve/daily-factor.ts';
import { DomainError } from '../shared/domain-error.ts';
import type { FieldViolation } from '../shared/domain-error.ts';
import type { ReceiveLoan, ApproveLoan, DisburseLoan, RejectLoan, SignLoanTerm } from './commands.ts';
import { decided } from './events.ts';
import type {
  LoanReceived,
  LoanApproved,
  LoanDisbursed,
  LoanRejected,
  LoanTermSigned,
  RejectionReason,
} from './events.ts';
import {
  codeAlreadyUsed,
  requireLoan,
  requireNotBeforeIssue,
  requirePositive,
  wrongStatus,
} from './state.ts';
import type { LoanState, ExistingLoan, LoanBooks, TermSignedLoan } from './state.ts';
import { formatCents } from '../shared/money.ts';

const MAX_INSTALLMENTS = 480;
const ABOVE_ZERO = 'send an amount above zero';

const violationsOf = ({
  installments,
  acquisitionValue,
  dateIssued,
}: ReceiveLoan): readonly FieldViolation[] => {
  const violations: FieldViolation[] = [];
  const broken = (field: string, code: FieldViolation['code'], remedy: string): void =>
    void violations.push({ field, code, message: `${field}: ${remedy}` });
  if (!(acquisitionValue > 0)) broken('acquisition_value', 'invalid_amount', ABOVE_ZERO);
  if (installments.length < 1 || installments.length > MAX_INSTALLMENTS)
    broken('installments', 'invalid_number_of_installments', `send between 1 and ${MAX_INSTALLMENTS}`);
  const seen = new Set<string>();
  installments.forEach(({ code, dueDate, faceValue }, i) => {
    if (!(faceValue > 0)) broken(`installments[${i}].face_value`, 'invalid_amount', ABOVE_ZERO);
    if (dueDate <= dateIssued) {
      const remedy = `choose a date after the issue on ${dateIssued}`;
      broken(`installments[${i}].due_date`, 'due_date_not_after_issue', remedy);
    }
    if (seen.has(code)) {
      const remedy = `${code} stands for another installment; give each its own code`;
      broken(`installments[${i}].code`, 'duplicate_installment_code', remedy);
    }
    seen.add(code);
  });
  return violations;
};

export const receiveLoan = (command: ReceiveLoan, state: LoanState): readonly LoanReceived[] => {
  if (state.status !== 'none') throw codeAlreadyUsed(command.code);
  const violations = violationsOf(command);
  if (violations.length > 0) {
    throw new DomainError(
      'validation_error',
      'the operation breaks rules; correct the fields in details',
      violations,
    );
  }
  const { type: _, now, ...offer } = command;
  const { acquisitionValue, dateIssued, installments } = offer;
  const dailyFactor = solveDailyFactor(acquisitionValue, dateIssued, installments);
  return [{ type: 'LoanReceived', ...offer, pricing: { policy: 'curve_v1', dailyFactor }, receivedAt: now }];
};

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
