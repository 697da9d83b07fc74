import type { SubscriptionMessage } from '../ports/event-store.ts';
import type { Pause } from '../support/retry.ts';

export interface Due {
  readonly kind: 'due';
}

interface Timing {
  readonly ms: number;
  readonly isWaiting: () => boolean;
  readonly pause: Pause;
  readonly signal: AbortSignal;
}

export async function* gathering<E>(
  messages: AsyncIterable<SubscriptionMessage<E>>,
  { ms, isWaiting, pause, signal }: Timing,
): AsyncGenerator<SubscriptionMessage<E> | Due, void, undefined> {
  const iterator = messages[Symbol.asyncIterator]();
  let due: Promise<undefined> | undefined;
  let next = iterator.next();
  try {
    for (;;) {
      due = isWaiting() ? (due ?? pause(ms, signal).then(() => undefined)) : undefined;
      const come = due && !signal.aborted ? await Promise.race([next, due]) : await next;
      if (come?.done) return;
      if (!come) due = undefined;
      yield come ? come.value : { kind: 'due' };
      if (come) next = iterator.next();
    }
  } finally {
    // The iterator may still wait for a message, and ends with the signal.
    next.catch(() => undefined);
    iterator.return?.()?.catch(() => undefined);
  }
}
