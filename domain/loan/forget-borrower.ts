import type { ForgetBorrower } from './commands.ts';
import type { BorrowerForgotten } from './events.ts';
import { requireLoan } from './state.ts';
import type { LoanState } from './state.ts';

/** Puts on record that the borrower is forgotten, in whatever status the operation is; its money goes on without a name. */
export const forgetBorrower = (
  { reason, now }: ForgetBorrower,
  state: LoanState,
): readonly BorrowerForgotten[] => {
  const loan = requireLoan(state);
  if (loan.borrowerForgottenAt !== undefined) return [];
  return [{ type: 'BorrowerForgotten', ...(reason !== undefined && { reason }), forgottenAt: now }];
};
