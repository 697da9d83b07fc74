import { expect, test } from '@jest/globals';
import { LogWalk } from '../../../application/audit/log-walk.ts';
import { StoreUnavailableError } from '../../../application/ports/event-store.ts';
import type {
  EventSubscription,
  LogPosition,
  RecordedEvent,
  SubscriptionMessage,
} from '../../../application/ports/event-store.ts';

const event = (position: string) => ({ position: position as LogPosition }) as RecordedEvent;
const eventsAt = (position: string): SubscriptionMessage => ({
  kind: 'events',
  events: [event(position)],
  checkpoint: position as LogPosition,
});

/** Each subscription answers so many messages and is silent then. */
const silentAfter = (...answers: readonly (readonly SubscriptionMessage[])[]) => {
  const begun: (LogPosition | 'start')[] = [];
  const subscription: EventSubscription = {
    subscribe: async function* ({ from, signal }) {
      begun.push(from);
      yield* answers[begun.length - 1] ?? [];
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
    },
  };
  // No time passes: what is there to be read comes first.
  const sleep = () => new Promise<void>((resolve) => setImmediate(resolve));
  const walk = async (): Promise<readonly string[]> => {
    const seen: string[] = [];
    for await (const events of new LogWalk({ subscription, sleep }).toTheEnd())
      seen.push(...events.map(({ position }) => position));
    return seen;
  };
  return { begun, walk };
};

test('a log that is silent for a while is asked again from where it was', async () => {
  const { walk, begun } = silentAfter([eventsAt('1')], [], [eventsAt('2'), { kind: 'caught_up' }]);
  expect(await walk()).toEqual(['1', '2']);
  expect(begun).toEqual(['start', '1', '1']);
});

test('a log that stays silent is a store that is away, and never a difference', async () => {
  const { walk, begun } = silentAfter([eventsAt('1')]);
  await expect(walk()).rejects.toThrow(StoreUnavailableError);
  await expect(walk()).rejects.toThrow(/no answer for 30 s/);
  expect(begun.length).toBeGreaterThan(2);
});
