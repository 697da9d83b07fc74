import { codeAlreadyUsed, requireActive, requireLoan, requireNotBeforeIssue } from '../loan/refusals.ts';
import type { ActiveLoan, ExistingLoan, LoanState } from '../loan/state.ts';
import { DomainError } from '../shared/domain-error.ts';
import type { FieldViolation } from '../shared/domain-error.ts';
import type { LoanCode } from '../shared/identifiers.ts';
import type { Proposal } from './commands.ts';

const repeatedOriginals = (codes: readonly LoanCode[]): readonly FieldViolation[] =>
  codes.flatMap((code, i) => {
    if (codes.indexOf(code) === i) return [];
    const field = `original_proposal_codes[${i}]`;
    return [
      { field, code: 'duplicate_original', message: `${field}: ${code} is listed before; name it once` },
    ];
  });

/** What can be told wrong from the request alone. @throws DomainError `validation_error` */
export const requireSoundProposal = ({ originalProposalCodes, newProposalCode }: Proposal): void => {
  const violations = [...repeatedOriginals(originalProposalCodes)];
  if (originalProposalCodes.length === 0) {
    const message = 'original_proposal_codes: name at least one operation to renegotiate';
    violations.push({ field: 'original_proposal_codes', code: 'required', message });
  }
  if (originalProposalCodes.includes(newProposalCode)) {
    const field = 'originator_proposal_code';
    const message = `${field}: ${newProposalCode} is an operation to be replaced; give the new one its own code`;
    violations.push({ field, code: 'new_code_is_an_original', message });
  }
  if (violations.length === 0) return;
  throw new DomainError(
    'validation_error',
    'the renegotiation breaks rules; correct the fields in details',
    violations,
  );
};

const requireOneFund = ([first, ...others]: readonly ExistingLoan[]): void => {
  const other = others.find(({ fundId }) => fundId !== first?.fundId);
  if (!first || !other) return;
  const message = `operations ${first.code} and ${other.code} belong to different funds; renegotiate those of each fund on their own`;
  const violation = { field: 'original_proposal_codes', code: 'different_funds', message };
  throw new DomainError('validation_error', message, [violation]);
};

/**
 * The order of these checks is part of the interface: every operation exists, one fund, dates, every operation's status.
 *
 * @throws DomainError `loan_not_found`, `validation_error`, `invalid_date`, `operation_invalid_state`, `concurrent_modification`
 */
export const requireRenegotiable = (
  { effectiveDate, originalProposalCodes }: Proposal,
  originals: readonly LoanState[],
): readonly ActiveLoan[] => {
  const loans = originals.map((state, i) => requireLoan(state, originalProposalCodes[i]));
  requireOneFund(loans);
  for (const loan of loans) requireNotBeforeIssue(loan, 'effective_date', effectiveDate);
  return loans.map((loan) => requireActive(loan, 'a renegotiation'));
};

/** @throws DomainError `proposal_code_already_used` */
export const requireUnusedCode = ({ newProposalCode }: Proposal, state: LoanState): void => {
  if (state.status !== 'none') throw codeAlreadyUsed(newProposalCode);
};
