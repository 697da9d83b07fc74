import type {
  EventSubscription,
  SubscribeOptions,
  SubscriptionMessage,
} from '../../application/ports/event-store.ts';
import { pause } from './time.ts';

/** A batch of this size is worth a transaction of its own: no pause after it. */
const WORTH_A_TRANSACTION = 200;

async function* withPauses(
  messages: AsyncIterable<SubscriptionMessage>,
  { signal }: SubscribeOptions,
  pauseMs: number,
): AsyncGenerator<SubscriptionMessage> {
  for await (const message of messages) {
    yield message;
    if (message.kind === 'events' && message.events.length < WORTH_A_TRANSACTION)
      await pause(pauseMs, signal);
  }
}

/**
 * Lets events gather for a moment after each small batch, so that a busy log costs its follower some hundred transactions a second
 * instead of thousands. The first event after a quiet time is never delayed.
 */
export const throttled = (subscription: EventSubscription, pauseMs: number): EventSubscription => ({
  subscribe: (options) => withPauses(subscription.subscribe(options), options, pauseMs),
});
