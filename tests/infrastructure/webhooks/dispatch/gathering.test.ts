import { afterAll, afterEach, beforeEach, expect, test } from '@jest/globals';
import { gathered } from '../../../../infrastructure/webhooks/dispatch/dispatch-settings.ts';
import { openServiceDatabase } from '../../../support/sql/temporary-database.ts';
import { DispatchWorld } from '../support/dispatch-world.ts';

let world: DispatchWorld;
const store = await openServiceDatabase();
afterAll(() => store.close());
beforeEach(() => {
  world = new DispatchWorld(store.database);
});
afterEach(() => world.close());

interface Call {
  readonly beganAt: number;
  readonly endedAt: number;
  readonly count: number;
}

const GATHER_MS = 40;
/** A timer may fire so much before its time by another clock. */
const EARLY_MS = 2;
const WORTH_A_TRANSACTION = 16;

const pausesAfterFew = (calls: readonly Call[]): readonly number[] =>
  calls.flatMap(({ count, endedAt }, index) => {
    const next = calls[index + 1];
    return next && count < WORTH_A_TRANSACTION ? [next.beganAt - endedAt] : [];
  });

/** Notes how long calls of the queue take, and what they were about. */
const noting =
  <Arguments extends readonly unknown[], Result>(
    calls: Call[],
    call: (...args: Arguments) => Promise<Result>,
    countOf: (result: Result) => number,
  ) =>
  async (...args: Arguments): Promise<Result> => {
    const beganAt = performance.now();
    const result = await call(...args);
    calls.push({ beganAt, endedAt: performance.now(), count: countOf(result) });
    return result;
  };

const watched = () => {
  const [claims, results]: [Call[], Call[]] = [[], []];
  const { queue } = world;
  const { dispatcher, sender } = world.worker({
    settings: { lookEveryMs: 60_000, gatherMs: GATHER_MS },
    queue: {
      lease: noting(claims, queue.lease.bind(queue), ({ deliveries }) => deliveries.length),
      record: noting(results, queue.record.bind(queue), ({ length }) => length),
    },
  });
  return { dispatcher, sender, claims, results };
};

/** Operations that are queued one by one, each with events that have to go one after the other. */
const deliver = async (dispatcher: ReturnType<typeof watched>['dispatcher']): Promise<string[]> => {
  const webhookId = await world.subscribe('https://a.example/hooks');
  dispatcher.start();
  const events = Array.from({ length: 20 }, (_, n) => world.event(`OP-${n % 10}`));
  for (const event of events) {
    await world.enqueue(webhookId, [event]);
    dispatcher.wake([webhookId]);
  }
  await world.untilDelivered(webhookId, events.length);
  return events.map(({ eventId }) => eventId);
};

test('after a small claim and after few results it waits for more of them, and sends each all the same', async () => {
  const { dispatcher, sender, claims, results } = watched();
  const queued = await deliver(dispatcher);
  expect(sender.sent.map(({ eventId }) => eventId).toSorted()).toEqual(queued.toSorted());
  for (const calls of [claims, results]) {
    const pauses = pausesAfterFew(calls);
    expect(pauses.length).toBeGreaterThan(0);
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(GATHER_MS - EARLY_MS);
  }
});

test('nothing waits after what was worth a transaction, nor where nothing is to be gathered', async () => {
  expect(gathered(WORTH_A_TRANSACTION, 60_000)).toBeUndefined();
  expect(gathered(1, 0)).toBeUndefined();
  await gathered(WORTH_A_TRANSACTION - 1, 1);
});
