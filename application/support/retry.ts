import { BusyError } from '../ports/busy-error.ts';
import { DamagedStoreError, OutcomeUnknownError, StoreUnavailableError } from '../ports/event-store.ts';
import type { AppendResult } from '../ports/event-store.ts';
import type { Logger } from '../ports/logger.ts';
import { messageOf } from './failures.ts';

export type Pause = (ms: number, signal: AbortSignal) => Promise<void>;

/** The answer; undefined when there is none in time, or the signal ends. */
export const answerWithin = async <Answer>(
  { pause, signal, ms }: { readonly pause: Pause; readonly signal: AbortSignal; readonly ms: number },
  asked: Promise<Answer>,
): Promise<Answer | undefined> => {
  const answered = new AbortController();
  const timeOver = pause(ms, AbortSignal.any([signal, answered.signal])).then(() => undefined);
  try {
    return await Promise.race([asked, timeOver]);
  } finally {
    answered.abort();
  }
};

/** Milliseconds before the given repetition (1 is the first): doubles up to a bound. */
export const backoff = (attempt: number, firstMs: number, longestMs: number): number =>
  Math.min(firstMs * 2 ** Math.min(attempt - 1, 30), longestMs);

export interface RetryPolicy {
  /** Milliseconds before the first repetition, the second and so on; after the last one the error is thrown. */
  readonly pausesMs: readonly number[];
  /** Whether the same work may succeed a moment later. */
  readonly mayPass: (error: unknown) => boolean;
  /** No repetition begins after this time, counted from the first try. */
  readonly giveUpAfterMs?: number;
  readonly onRetry?: (error: unknown) => void;
}

/** Repeats work that may be done twice. @throws what the last try met */
export const retry = async <Result>(
  work: () => Promise<Result>,
  policy: RetryPolicy,
  pause: (ms: number) => Promise<unknown>,
): Promise<Result> => {
  const { pausesMs, mayPass, giveUpAfterMs = Infinity, onRetry } = policy;
  const begun = performance.now();
  for (let tries = 0; ; tries++) {
    try {
      return await work();
    } catch (error) {
      const ms = pausesMs[tries];
      if (ms === undefined || !mayPass(error) || performance.now() - begun > giveUpAfterMs) throw error;
      onRetry?.(error);
      await pause(ms);
    }
  }
};

/** A store that swallows everything costs its time-out with every try: the caller should hear before its own patience ends. */
const UNKNOWN_OUTCOME: RetryPolicy = {
  pausesMs: [20, 100, 400, 1_500],
  mayPass: (error) => error instanceof OutcomeUnknownError,
  giveUpAfterMs: 8_000,
};

/** The store answers a repeated append with its first result. @throws OutcomeUnknownError after the last try */
export const retryAppend = (
  append: () => Promise<AppendResult>,
  pause: (ms: number) => Promise<unknown>,
): Promise<AppendResult> => retry(append, UNKNOWN_OUTCOME, pause);

/** A store's failure that may pass by itself; every other one would come again. */
export const mayPass = (error: unknown): error is StoreUnavailableError | OutcomeUnknownError =>
  error instanceof StoreUnavailableError || error instanceof OutcomeUnknownError;

const ENGINE_AWAY: RetryPolicy = {
  pausesMs: [50, 200, 500, 1_000, 2_000, 5_000, 10_000],
  mayPass: (error) => (mayPass(error) && !(error instanceof DamagedStoreError)) || error instanceof BusyError,
};

/** For about twenty seconds; only what may be done twice. @throws what the last try met */
export const retryUntilAvailable = <Result>(
  work: () => Promise<Result>,
  pause: (ms: number) => Promise<unknown>,
): Promise<Result> => retry(work, ENGINE_AWAY, pause);

/** Both answer how many milliseconds to wait before the next time; nothing means none. */
export const repeatUntilAborted = async (
  work: () => Promise<number | void>,
  afterFailure: (error: unknown) => number,
  pause: Pause,
  signal: AbortSignal,
): Promise<void> => {
  while (!signal.aborted) {
    let waitMs: number | void;
    try {
      waitMs = await work();
    } catch (error) {
      if (signal.aborted) return;
      waitMs = afterFailure(error);
    }
    if (waitMs !== undefined) await pause(waitMs, signal);
  }
};

export interface OutageOptions {
  readonly logger: Logger;
  readonly what: string;
  readonly fields?: object;
  /** Milliseconds; each further failure doubles the pause. */
  readonly firstPauseMs?: number;
  readonly longestPauseMs?: number;
}

/** Keeps an outage quiet: a line when something stops working, when the reason changes, and when it works again. */
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
  failed(error: unknown): number {
    const { logger, what, fields, firstPauseMs = 100, longestPauseMs = 5_000 } = this.#options;
    const pauseMs = backoff(this.#failures + 1, firstPauseMs, longestPauseMs);
    const reason = messageOf(error);
    if (this.#failures === 0) this.#since = performance.now();
    if (reason === this.#lastError) logger.debug({ ...fields, reason, pauseMs }, `${what}: still failing`);
    else logger.error({ ...fields, err: error, pauseMs }, `${what}: failed; trying again until it works`);
    this.#failures += 1;
    this.#lastError = reason;
    return pauseMs;
  }

  over(): void {
    if (this.#failures === 0) return;
    const { logger, what, fields } = this.#options;
    const lastedMs = Math.round(performance.now() - this.#since);
    logger.info({ ...fields, tries: this.#failures, lastedMs }, `${what}: works again`);
    this.#failures = 0;
    this.#lastError = undefined;
  }
}
