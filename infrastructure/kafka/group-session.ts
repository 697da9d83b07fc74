import type { Consumer } from 'kafkajs';

/**
 * Knows when a session is over: the library gave up, a broker did not answer a member, or it is alive in name only. The last should
 * not happen, but kafkajs is no longer maintained, and an error on its way out of a crash would otherwise leave a consumer that does
 * nothing for ever.
 * @returns `over` rejects when the session broke and resolves when it is to end; `moved` is a sign of life from outside the library: work
 *   that takes long
 */
export const watchSession = (consumer: Consumer, closing: AbortSignal, stalledAfterMs: number) => {
  const { promise: over, resolve, reject } = Promise.withResolvers<void>();
  let lastMoved = performance.now();
  let joined = false;
  const moved = (): void => void (lastMoved = performance.now());
  consumer.on(consumer.events.CRASH, ({ payload }) => reject(payload.error));
  consumer.on(consumer.events.GROUP_JOIN, () => {
    joined = true;
    moved();
  });
  // The library would ask the same broker again and again; a new consumer learns who leads now.
  consumer.on(consumer.events.REQUEST_TIMEOUT, ({ payload: { apiName, broker } }) => {
    if (joined) reject(new Error(`${broker} did not answer ${apiName}`));
  });
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

/** Tells the broker that this member lives, however long the work takes, until what it answers is called. `lost`: it did not hear, or counts it in no more. */
export const keepMembership = (
  beat: () => Promise<void>,
  everyMs: number,
  lost: (error: Error) => void,
): (() => void) => {
  const tell = (error: unknown): void => lost(error instanceof Error ? error : new Error(String(error)));
  const timer = setInterval(() => void beat().catch(tell), everyMs);
  return () => clearInterval(timer);
};
