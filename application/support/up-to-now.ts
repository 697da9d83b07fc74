import { DamagedEventError } from '../ports/event-store.ts';
import type { EventSubscription, SubscribeOptions, SubscriptionMessage } from '../ports/event-store.ts';

/** What the log holds up to its end as it is now. @param leave is told of each event that is none, which is passed by; without it, that is thrown */
export async function* upToNow(
  log: EventSubscription,
  options: Omit<SubscribeOptions, 'signal'>,
  leave?: (damaged: DamagedEventError) => void,
): AsyncGenerator<Exclude<SubscriptionMessage, { kind: 'caught_up' }>, void, undefined> {
  for (let { from } = options; ;) {
    const stop = new AbortController();
    try {
      for await (const message of log.subscribe({ ...options, from, signal: stop.signal })) {
        if (message.kind === 'caught_up') return;
        yield message;
      }
      return;
    } catch (error) {
      if (!leave || !(error instanceof DamagedEventError)) throw error;
      leave(error);
      from = error.position;
    } finally {
      stop.abort();
    }
  }
}
