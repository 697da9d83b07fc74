import type { RequestRepurchase as RequestRepurchaseCommand } from '../../domain/loan/commands.ts';
import { loanDecider } from '../../domain/loan/index.ts';
import type { LoanState } from '../../domain/loan/state.ts';
import type { CommandHandler } from '../command-handling/command-handler.ts';
import { askedBy, canonicalText, loanStream } from '../command-handling/operation.ts';
import type { BorrowerVault } from '../ports/borrower-vault.ts';
import type { BusinessClock } from '../ports/clock.ts';
import type { Outcome, RequestContext } from '../ports/clients.ts';
import { ENDPOINTS } from './inputs.ts';
import type { RepurchaseReceipt, RequestRepurchaseInput } from './inputs.ts';

interface Dependencies {
  readonly commands: CommandHandler;
  readonly vault: Pick<BorrowerVault, 'digest' | 'sealText'>;
  readonly clock: BusinessClock;
}

type Remark = Pick<RequestRepurchaseCommand, 'reasonDetail'>;

/** Asks that an operation leaves the portfolio; the administrator completes it. */
export class RequestRepurchase {
  readonly #deps: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
  }

  /**
   * A replay answers the value of the request and the status of now.
   * @throws DomainError `invalid_date`, `idempotency_conflict`, `loan_not_found`, `operation_invalid_state`
   */
  async execute(context: RequestContext, input: RequestRepurchaseInput): Promise<Outcome<RepurchaseReceipt>> {
    const { commands, vault, clock } = this.#deps;
    const { idempotencyKey, ...contents } = input;
    const { code: _, reasonDetail, ...request } = contents;
    const stream = loanStream(context.applicationId, input.code);
    const { replayed, state } = await commands.handle({
      stream,
      ...askedBy(context),
      idempotency: {
        endpoint: ENDPOINTS.requestRepurchase,
        key: idempotencyKey,
        fingerprint: vault.digest(canonicalText(contents)),
        claim: true,
      },
      decide: async (current) => {
        const remark = await this.#sealRemark(stream, reasonDetail, current);
        return loanDecider.decide(
          { type: 'RequestRepurchase', ...request, ...remark, now: clock.now() },
          current,
        );
      },
    });
    return { replayed, result: receiptOf(state) };
  }

  /** Once the borrower is forgotten there is nothing left to seal a remark with, so none is kept. */
  async #sealRemark(stream: string, remark: string | undefined, state: LoanState): Promise<Remark> {
    if (remark === undefined || !('schedule' in state) || state.borrowerForgottenAt !== undefined) return {};
    const reasonDetail = await this.#deps.vault.sealText(stream, remark);
    return reasonDetail ? { reasonDetail } : {};
  }
}

/** An operation has at most one repurchase, because no state after it is active again. */
const receiptOf = (state: LoanState): RepurchaseReceipt => {
  if (!('repurchase' in state)) throw new Error('an accepted repurchase stands in the state');
  const { code, status, repurchase } = state;
  const { reason, repurchaseValue, calculatedAt } = repurchase;
  return { code, status, reason, repurchaseValue, calculatedAt };
};
