/** The longest time that a timer knows; a longer one would be over at once. */
const LONGEST_MS = 2 ** 31 - 1;

/** Waits; a signal ends that early, with its reason. */
export const pause = (milliseconds: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason as Error);
    const stopped = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(
      () => {
        signal?.removeEventListener('abort', stopped);
        resolve();
      },
      Math.min(milliseconds, LONGEST_MS),
    );
    signal?.addEventListener('abort', stopped, { once: true });
  });

/** The result of `work`, or the reason of the signal, whichever comes first. The work goes on for whoever else waits for it. */
export const orStopped = async <Result>(
  work: Promise<Result>,
  signal: AbortSignal | undefined,
): Promise<Result> => {
  if (!signal) return work;
  let stopped = (): void => undefined;
  const stop = new Promise<never>((_, reject) => {
    stopped = () => reject(signal.reason as Error);
    if (signal.aborted) stopped();
    else signal.addEventListener('abort', stopped, { once: true });
  });
  try {
    return await Promise.race([work, stop]);
  } finally {
    signal.removeEventListener('abort', stopped);
  }
};

/** Does work under a signal that a time-out and the caller's own signal end. */
export const within = async <Result>(
  milliseconds: number,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> => {
  signal?.throwIfAborted();
  const controller = new AbortController();
  const timer = setTimeout(
    () => controller.abort(new Error(`no answer within ${milliseconds} ms`)),
    Math.min(milliseconds, LONGEST_MS),
  );
  const stopped = (): void => controller.abort(signal?.reason);
  signal?.addEventListener('abort', stopped, { once: true });
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stopped);
  }
};

export interface UntilOptions {
  /** Between two looks; default 1 000 ms. */
  readonly pauseMs?: number;
  readonly signal?: AbortSignal;
}

/**
 * Looks until what it sees fulfils the condition, and returns that: an operation that becomes active in the sandbox, a redelivery
 * that ends. Bound it with `AbortSignal.timeout`.
 */
export const until = async <Seen>(
  look: () => Promise<Seen>,
  holds: (seen: Seen) => boolean,
  { pauseMs = 1_000, signal }: UntilOptions = {},
): Promise<Seen> => {
  for (;;) {
    const seen = await look();
    if (holds(seen)) return seen;
    await pause(pauseMs, signal);
  }
};
