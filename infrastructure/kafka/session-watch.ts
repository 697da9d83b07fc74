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
  // Nobody waits for it yet while the consumer connects.
  over.catch(() => undefined);
  const stop = (): void => {
    clearInterval(stalled);
    closing.removeEventListener('abort', end);
  };
  return { over, moved, stop };
};
