import type { Logger } from '../../../application/ports/logger.ts';
import { ClientGoneError, HttpProblem, problemOf } from '../errors/http-problem.ts';
import type { Authentication } from './authentication.ts';
import type { Exchange } from './request-state.ts';
import type { Operation } from '../operation.ts';
import type { RateGate } from './rate-gate.ts';
import type { Responder } from './responder.ts';

interface Dependencies {
  readonly authentication: Authentication;
  readonly gate: RateGate;
  readonly responder: Responder;
  readonly logger: Logger;
}

/** Row for what matches no operation. */
export const UNMATCHED = 'read';

/** Turns whatever went wrong with a request into its answer and its line in the log. */
export class Refusals {
  readonly #deps: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
  }

  /** `operation` is undefined for a request that matches none. */
  async answer(exchange: Exchange, error: unknown, operation: Operation | undefined): Promise<void> {
    if (error instanceof ClientGoneError) return;
    const known = problemOf(error);
    this.#log(exchange, error, known, operation?.id);
    const problem =
      known ??
      new HttpProblem('internal_error', 'Something failed on our side; quote the request id to support.');
    await this.noteRate(exchange, operation);
    this.#deps.responder.refuse(exchange, problem, operation?.access === 'client_credentials');
  }

  /** The headers of an answer that came before any bucket was drawn from: it draws now, but is never turned into a 429. */
  async noteRate(exchange: Exchange, operation: Operation | undefined): Promise<void> {
    if (exchange.rate !== undefined || operation?.bucket === null) return;
    const { authentication, gate, logger } = this.#deps;
    const row = operation?.bucket ?? UNMATCHED;
    try {
      const caller = await authentication.identify(exchange.req).catch(() => undefined);
      if (caller && row !== 'token') await gate.forCaller(exchange, caller, row);
      else await gate.forAddress(exchange, row);
    } catch (error) {
      logger.warn({ request_id: exchange.requestId, error: String(error) }, 'no rate limit state');
    }
  }

  #log(
    { requestId }: Exchange,
    error: unknown,
    problem: HttpProblem | undefined,
    operation: string | undefined,
  ): void {
    const { logger } = this.#deps;
    const fields = { request_id: requestId, operation };
    if (problem === undefined) {
      const { name, message, stack } = error instanceof Error ? error : new Error(String(error));
      logger.error({ ...fields, error: { name, message, stack } }, 'request failed unexpectedly');
      return;
    }
    const refusal = { ...fields, status: problem.status, error_code: problem.code };
    if (problem.status >= 500) logger.warn({ ...refusal, cause: (error as Error).name }, 'request failed');
    // A flood that is turned away must not become a flood of log lines.
    else if (problem.status === 429) logger.debug(refusal, 'request refused');
    else logger.info(refusal, 'request refused');
  }
}
