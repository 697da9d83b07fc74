/** Resolves with false after `ms`, or with true as soon as the signal aborts. Leaves neither timer nor listener behind. */
export const pause = (ms: number, signal: AbortSignal): Promise<boolean> =>
  new Promise((resolve) => {
    if (signal.aborted) {
      resolve(true);
      return;
    }
    const finish = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', finish);
      resolve(signal.aborted);
    };
    const timer = setTimeout(finish, ms);
    signal.addEventListener('abort', finish);
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

/** Delay before the given attempt (1 is the first repetition): doubles up to a bound. */
export const backoff = (attempt: number, firstMs: number, longestMs: number): number =>
  Math.min(firstMs * 2 ** Math.min(attempt - 1, 30), longestMs);
