import type { Consumer } from 'kafkajs';

export interface SessionWatch {
  /** Rejects when the session broke, resolves when it is to end. */
  readonly over: Promise<void>;
  /** A sign of life from outside the library: work that takes long. */
  moved(): void;
  stop(): void;
}

/**
 * Knows when a session is over: the library gave up, or it is alive in name only. The second should not happen, but kafkajs is no
 * longer maintained, and an error on its way out of a crash would otherwise leave a consumer that does nothing for ever.
 */
export const watchSession = (
  consumer: Consumer,
  closing: AbortSignal,
  stalledAfterMs: number,
): SessionWatch => {
  const { promise: over, resolve, reject } = Promise.withResolvers<void>();
  let lastMoved = performance.now();
  const moved = (): void => void (lastMoved = performance.now());
  consumer.on(consumer.events.CRASH, ({ payload }) => reject(payload.error));
  consumer.on(consumer.events.GROUP_JOIN, moved);
  consumer.on(consumer.events.FETCH, moved);
  consumer.on(consumer.events.HEARTBEAT, moved);
  const stalled = setInterval(() => {
    const idleMs = performance.now() - lastMoved;
    if (idleMs > stalledAfterMs) reject(new Error(`nothing moved for ${Math.round(idleMs)} ms`));
  }, stalledAfterMs / 10);
  const end = (): void => resolve();
  closing.addEventListener('abort', end);
  if (closing.aborted) end();
  // The caller does not wait for it yet while the consumer connects.
  over.catch(() => undefined);
  const stop = (): void => {
    clearInterval(stalled);
    closing.removeEventListener('abort', end);
  };
  return { over, moved, stop };
};

/** A batch's hold on its partition: lasts until the broker no longer counts this member in, or the consumer closes. */
export interface Membership {
  readonly signal: AbortSignal;
  /** What the broker answered when it was over. */
  lost(): Error | undefined;
  stop(): void;
}

/** Tells the broker that this member lives, however long the work takes. */
export const keepMembership = (
  beat: () => Promise<void>,
  everyMs: number,
  closing: AbortSignal,
): Membership => {
  const over = new AbortController();
  let lost: Error | undefined;
  const timer = setInterval(() => {
    beat().catch((error: unknown) => {
      lost ??= error instanceof Error ? error : new Error(String(error));
      over.abort();
    });
  }, everyMs);
  const close = (): void => over.abort();
  closing.addEventListener('abort', close);
  if (closing.aborted) close();
  const stop = (): void => {
    clearInterval(timer);
    closing.removeEventListener('abort', close);
  };
  return { signal: over.signal, lost: () => lost, stop };
};
