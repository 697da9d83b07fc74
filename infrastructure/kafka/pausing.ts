/** Resolves after `ms`, or as soon as the signal aborts; leaves neither timer nor listener behind. */
export const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const finish = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', finish);
      resolve();
    };
    const timer = setTimeout(finish, ms);
    signal.addEventListener('abort', finish);
  });

/** Resolves when the signal aborts; for signals that live no longer than what waits here. */
export const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

/** Milliseconds before the repetition after so many failures in a row: doubles up to a bound. */
export const backoff = (failures: number, firstMs: number, longestMs: number): number =>
  Math.min(firstMs * 2 ** Math.min(failures - 1, 30), longestMs);

export class TimedOutError extends Error {
  override readonly name = 'TimedOutError';
}

/** @throws TimedOutError when the work has not ended in time; it goes on unseen */
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

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
