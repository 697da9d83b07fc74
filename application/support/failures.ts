import type { Logger } from '../ports/logger.ts';
import { backoff } from './retry.ts';

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export interface OutageOptions {
  readonly logger: Logger;
  /** Who cannot go on, as the log names it. */
  readonly what: string;
  /** Milliseconds; each further failure doubles the pause. */
  readonly firstPauseMs?: number;
  readonly longestPauseMs?: number;
}

/**
 * Keeps an outage quiet: one line when something stops working, one when the reason changes, one when it works again, however often
 * it is tried in between. Failures closer together than it takes to succeed once belong to one outage.
 */
export class Outage {
  readonly #options: OutageOptions;
  #failures = 0;
  #since = 0;
  #lastError: string | undefined;

  constructor(options: OutageOptions) {
    this.#options = options;
  }

  get lastError(): string | undefined {
    return this.#lastError;
  }

  /** Notes a failure; answers how many milliseconds to wait before the next try. */
  failed(error: unknown, fields: object = {}): number {
    const { logger, what, firstPauseMs = 100, longestPauseMs = 5_000 } = this.#options;
    const pauseMs = backoff(this.#failures + 1, firstPauseMs, longestPauseMs);
    const reason = messageOf(error);
    if (this.#failures === 0) this.#since = performance.now();
    if (reason === this.#lastError) logger.debug({ ...fields, reason, pauseMs }, `${what}: still failing`);
    else logger.error({ ...fields, err: error, pauseMs }, `${what}: failed; trying again until it works`);
    this.#failures += 1;
    this.#lastError = reason;
    return pauseMs;
  }

  /** To be called whenever it works. */
  over(): void {
    if (this.#failures === 0) return;
    const { logger, what } = this.#options;
    const lastedMs = Math.round(performance.now() - this.#since);
    logger.info({ tries: this.#failures, lastedMs }, `${what}: works again`);
    this.#failures = 0;
    this.#lastError = undefined;
  }
}
