import type { EventSubscription, SubscribeOptions, SubscriptionMessage } from '../ports/event-store.ts';

/** What the log holds up to its end as it is now. */
export async function* upToNow(
  log: EventSubscription,
  options: Omit<SubscribeOptions, 'signal'>,
): AsyncGenerator<Exclude<SubscriptionMessage, { kind: 'caught_up' }>, void, undefined> {
  const stop = new AbortController();
  try {
    for await (const message of log.subscribe({ ...options, signal: stop.signal })) {
      if (message.kind === 'caught_up') return;
      yield message;
    }
  } finally {
    stop.abort();
  }
}
