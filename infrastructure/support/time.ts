import { setTimeout as wait } from 'node:timers/promises';
import type { RealClock } from '../../application/ports/clock.ts';
import type {
  EventSubscription,
  SubscribeOptions,
  SubscriptionMessage,
} from '../../application/ports/event-store.ts';
import type { RealTime } from '../../domain/shared/identifiers.ts';

/** The longest that one timer of Node.js can wait, some 24 days; beyond it would fire at once. */
const LONGEST_TIMER_MS = 2_147_483_647;

/** Resolves after `ms`, or as soon as the signal aborts. Leaves neither timer nor listener behind. */
export const pause = async (ms: number, signal?: AbortSignal): Promise<void> => {
  const last = ms % LONGEST_TIMER_MS;
  try {
    for (let left = ms - last; left > 0; left -= LONGEST_TIMER_MS)
      await wait(LONGEST_TIMER_MS, undefined, signal ? { signal } : {});
    await wait(last, undefined, signal ? { signal } : {});
  } catch (error) {
    if (!signal?.aborted) throw error;
  }
};

/** Resolves when the signal aborts; for signals that live no longer than what waits here. */
export const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

/**
 * The promise's outcome, or undefined as soon as the signal aborts. Not `Promise.race` with a promise that lives as long as the
 * signal: each race would add a reaction to it that is never freed.
 */
export const unlessAborted = <Value>(
  promise: Promise<Value>,
  signal: AbortSignal,
): Promise<Value | undefined> =>
  new Promise((resolve, reject) => {
    const giveUp = (): void => resolve(undefined);
    const settle = (act: () => void): void => {
      signal.removeEventListener('abort', giveUp);
      act();
    };
    promise.then(
      (value) => settle(() => resolve(value)),
      (error: unknown) => settle(() => reject(error instanceof Error ? error : new Error(String(error)))),
    );
    if (signal.aborted) giveUp();
    else signal.addEventListener('abort', giveUp);
  });

export class TimedOutError extends Error {
  override readonly name = 'TimedOutError';
}

/** @throws TimedOutError when the work has not ended in time; it goes on all the same, and its outcome is dropped */
export const within = async <Value>(ms: number, what: string, work: Promise<Value>): Promise<Value> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new TimedOutError(`${what} took longer than ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
};

export class SystemClock implements RealClock {
  readonly #now: () => number;

  /** @param now UNIX milliseconds; default: by this machine */
  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  realNow(): RealTime {
    return new Date(this.#now()).toISOString() as RealTime;
  }
}

/** A batch of this size is worth a transaction of its own: no pause after it. */
const WORTH_A_TRANSACTION = 200;

async function* withPauses(
  messages: AsyncIterable<SubscriptionMessage>,
  { signal }: SubscribeOptions,
  pauseMs: number,
): AsyncGenerator<SubscriptionMessage> {
  for await (const message of messages) {
    yield message;
    if (message.kind === 'events' && message.events.length < WORTH_A_TRANSACTION)
      await pause(pauseMs, signal);
  }
}

/**
 * Lets events gather for a moment after each small batch, so that a busy log costs its follower some hundred transactions a second
 * instead of thousands. The first event after a quiet time is never delayed.
 */
export const throttled = (subscription: EventSubscription, pauseMs: number): EventSubscription => ({
  subscribe: (options) => withPauses(subscription.subscribe(options), options, pauseMs),
});

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const LONGEST_TURN_MS = 10;

/**
 * Work that is done where it is asked for resolves without a turn of the event loop, so a loop over it would let nothing else happen.
 * A caller that passes here before such work gives way to others once the turn has lasted too long.
 */
export class TurnLimit {
  #beganAt: number | undefined;

  /** Undefined when there is nothing to wait for. */
  pass(): Promise<void> | undefined {
    if (this.#beganAt === undefined) {
      this.#beganAt = performance.now();
      setImmediate(() => (this.#beganAt = undefined));
      return undefined;
    }
    return performance.now() - this.#beganAt > LONGEST_TURN_MS ? nextTurn() : undefined;
  }
}
