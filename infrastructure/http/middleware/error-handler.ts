import type { IncomingMessage } from 'node:http';
import type { ErrorRequestHandler } from 'express';
import type { Logger } from '../../../application/ports/logger.ts';
import { messageOf } from '../../../application/support/failures.ts';
import { LineAMinute } from '../../support/line-a-minute.ts';
import { machineTrouble } from '../../support/machine-trouble.ts';
import { ClientGoneError, HttpProblem, problemOf } from '../errors/http-problem.ts';
import { UNMATCHED } from './authentication.ts';
import type { RateLimits } from './authentication.ts';
import { stateOf } from './request-state.ts';
import type { Caller, RequestState } from './request-state.ts';
import type { Responder } from './responder.ts';

interface Dependencies {
  readonly identify: (req: IncomingMessage) => Promise<Caller>;
  readonly rates: RateLimits;
  readonly responder: Responder;
  readonly logger: Logger;
}

/** A bound of its own knows no endpoint; a 429 says which one it is about. */
const naming = ({ operation }: RequestState, problem: HttpProblem): HttpProblem => {
  const { code, message, details, headers } = problem;
  if (operation === undefined || message.includes(operation.endpoint)) return problem;
  return new HttpProblem(code, `${operation.endpoint}: ${message}`, details, headers);
};

export class ErrorHandler {
  readonly #deps: Dependencies;
  readonly #failed: LineAMinute;

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
    this.#failed = new LineAMinute((fields) => dependencies.logger.warn(fields, 'request failed'));
  }

  /** The last middleware of the application; Express knows it by its four parameters. */
  readonly handle: ErrorRequestHandler = async (error: unknown, _req, res, _next) => {
    const state = stateOf(res);
    try {
      await this.#answer(state, error);
    } catch (failure) {
      await this.#answer(state, failure);
    } finally {
      await state.finish();
    }
  };

  /** Takes a token for the rate headers of an answer that came before any limit was checked; such an answer never becomes a 429. */
  async noteRate(state: RequestState): Promise<void> {
    const { rate, operation, req } = state;
    if (rate !== undefined || operation?.bucket === null) return;
    const { identify, rates } = this.#deps;
    const row = operation?.bucket ?? UNMATCHED;
    await this.#orSay('no rate limit state', state, async () => {
      const caller = await identify(req).catch(() => undefined);
      if (caller && row !== 'token') await rates.forCaller(state, caller, row);
      else await rates.forAddress(state, row);
    });
  }

  /** Counts a request that is not well formed for its address: whatever it says about its sender is not looked at. */
  async noteAddress(state: RequestState): Promise<void> {
    await this.#orSay('no rate limit state', state, async () => {
      state.rate ??= await this.#deps.rates.forAddress(state, UNMATCHED);
    });
  }

  /** What an error is answered with, here or in its line of a batch. The log is told. */
  refusalOf({ requestId, operation, rate }: RequestState, error: unknown, line?: number): HttpProblem {
    const known = problemOf(error);
    const where = { request_id: requestId, operation: operation?.id, ...(line !== undefined && { line }) };
    this.#log(where, error, { problem: known, isBeyond: rate?.allowed === false });
    if (known) return known;
    return new HttpProblem(
      'internal_error',
      'Something failed on our side; quote the request id to support.',
    );
  }

  async #answer(state: RequestState, error: unknown): Promise<void> {
    if (error instanceof ClientGoneError) return;
    await this.noteRate(state);
    let problem = this.refusalOf(state, error);
    if (problem.code === 'rate_limited') {
      problem = naming(state, problem);
      await this.#orSay('tokens not given back', state, () => this.#deps.rates.giveBack(state));
    }
    this.#deps.responder.refuse(state, problem, state.operation?.access === 'client_credentials');
  }

  async #orSay(what: string, { requestId }: RequestState, work: () => Promise<void>): Promise<void> {
    await work().catch((error: unknown) => {
      this.#deps.logger.warn({ request_id: requestId, error: String(error) }, what);
    });
  }

  /** @param isBeyond whether its sender has no token left in its bucket */
  #log(
    fields: object,
    error: unknown,
    { problem, isBeyond }: { readonly problem: HttpProblem | undefined; readonly isBeyond: boolean },
  ): void {
    const { logger } = this.#deps;
    if (problem === undefined) {
      const { name, message, stack } = error instanceof Error ? error : new Error(String(error));
      logger.error({ ...fields, error: { name, message, stack } }, 'request failed unexpectedly');
      return;
    }
    const refusal = { ...fields, status: problem.status, error_code: problem.code };
    // A flood of failed or refused requests must not become a flood of log lines.
    if (problem.status >= 500) {
      const cause = machineTrouble(error) ?? (error as Error).name;
      this.#failed.note(cause, { ...refusal, cause, reason: messageOf(error) });
    } else if (problem.status === 429 || isBeyond) logger.debug(refusal, 'request refused');
    else logger.info(refusal, 'request refused');
  }
}
