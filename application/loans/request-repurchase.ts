import type { RequestRepurchase as RequestRepurchaseCommand } from '../../domain/loan/commands.ts';
import { loanDecider } from '../../domain/loan/index.ts';
import type { LoanState } from '../../domain/loan/state.ts';
import { askedOnce } from '../command-handling/operation.ts';
import type { Asked } from '../command-handling/operation.ts';
import type { BorrowerVault } from '../ports/borrower-vault.ts';
import type { Outcome, RequestContext } from '../command-handling/request-context.ts';
import { ENDPOINTS } from '../command-handling/endpoints.ts';
import type { LoanParts } from './loan-parts.ts';

export type AskedRepurchase = Asked<Omit<RequestRepurchaseCommand, 'reasonDetail'>> & {
  readonly reasonDetail?: string;
};
export type RepurchaseReceipt = ReturnType<typeof receiptOf>;

type Remark = Pick<RequestRepurchaseCommand, 'reasonDetail'>;

/**
 * Asks that an operation leaves the portfolio; the administrator completes it.
 * A replay answers the value of the request and the status of now.
 * @throws DomainError `invalid_date`, `idempotency_conflict`, `loan_not_found`, `operation_invalid_state`
 */
export const requestRepurchase = async (
  { commands, vault, clock }: Pick<LoanParts, 'commands' | 'vault' | 'clock'>,
  context: RequestContext,
  input: AskedRepurchase,
): Promise<Outcome<RepurchaseReceipt>> => {
  const { idempotencyKey: _key, code: _code, reasonDetail, ...request } = input;
  const asked = askedOnce(vault, context, ENDPOINTS.requestRepurchase, input);
  const { replayed, state } = await commands.handle({
    ...asked,
    decide: async (current) => {
      const remark = await sealRemark(vault, asked.stream, reasonDetail, current);
      return loanDecider.decide(
        { type: 'RequestRepurchase', ...request, ...remark, now: clock.now() },
        current,
      );
    },
  });
  return { replayed, result: receiptOf(state) };
};

/** Once the borrower is forgotten there is nothing left to seal a remark with, so none is kept. */
const sealRemark = async (
  vault: Pick<BorrowerVault, 'sealText'>,
  stream: string,
  remark: string | undefined,
  state: LoanState,
): Promise<Remark> => {
  if (remark === undefined || !('schedule' in state) || state.borrowerForgottenAt !== undefined) return {};
  const reasonDetail = await vault.sealText(stream, remark);
  return reasonDetail ? { reasonDetail } : {};
};

/** An operation has at most one repurchase, because no state after it is active again. A replay tells how it ended. */
const receiptOf = (state: LoanState) => {
  if (!('repurchase' in state)) throw new Error('an accepted repurchase stands in the state');
  const { code, status, repurchase } = state;
  const { reason, repurchaseValue, calculatedAt } = repurchase;
  return { code, status, reason, repurchaseValue, calculatedAt };
};
