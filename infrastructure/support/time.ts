import { setTimeout as wait } from 'node:timers/promises';

/** Resolves after `ms`, or as soon as the signal aborts. Leaves neither timer nor listener behind. */
export const pause = async (ms: number, signal?: AbortSignal): Promise<void> => {
  try {
    await wait(ms, undefined, signal ? { signal } : {});
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
