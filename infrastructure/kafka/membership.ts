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
