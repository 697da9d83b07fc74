import { randomUUID } from 'node:crypto';
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { PublicEvent } from '../../../application/ports/event-bus.ts';
import type { LogPosition } from '../../../application/ports/event-store.ts';
import type { NewSubscription } from '../../../application/webhooks/subscriptions.ts';
import { fanOutTo } from '../../../application/webhooks/fan-out.ts';
import { logOrder } from '../../../infrastructure/composition/read-models.ts';
import { DeliveryLog } from '../../../application/webhooks/delivery-log.ts';
import { DeliveryQueue } from '../../../application/webhooks/queue/delivery-queue.ts';
import { WebhookSubscriptions } from '../../../application/webhooks/subscriptions.ts';
import { openServiceDatabase } from '../../support/sql/temporary-database.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const [FUND, OTHER_FUND] = ['fund-1', 'fund-2'];
const T0 = '2026-01-15T12:00:00.000Z';

let application: string;
let woken: string[][];

const store = await openServiceDatabase();
const subscriptions = new WebhookSubscriptions(store.database);
afterAll(() => store.close());
beforeEach(() => {
  application = randomUUID();
  woken = [];
});

const fanOut = (clockToleranceMs = 0) =>
  fanOutTo({
    subscriptions,
    queue: new DeliveryQueue(store.database),
    clock: new ManualClock(),
    onQueued: (webhookIds) => woken.push([...webhookIds]),
    order: logOrder,
    clockToleranceMs,
  });

const subscribe = async (overrides: Partial<NewSubscription> = {}): Promise<string> => {
  const webhookId = randomUUID();
  const rest = {
    url: 'https://r.example/',
    events: ['*'],
    fundIds: null,
    description: null,
    sealedSecret: 's',
  };
  await subscriptions.add(
    { webhookId, applicationId: application, createdAt: T0, ...rest, ...overrides },
    20,
  );
  return webhookId;
};

const event = (overrides: Partial<PublicEvent> = {}): PublicEvent => ({
  eventId: randomUUID(),
  name: 'loan_received',
  applicationId: application,
  fundId: FUND,
  code: 'OP-1',
  sequence: 0,
  timestamp: T0,
  body: '{}',
  ...overrides,
});

const queuedFor = async (webhookId: string): Promise<(string | null)[]> => {
  const { deliveries } = await new DeliveryLog(store.database).list({ webhookId, limit: 100 });
  return deliveries.map(({ eventId }) => eventId).toReversed();
};

describe('an event is queued', () => {
  test('for each subscription of its application that asks for it', async () => {
    const [all, named, mixed] = [
      await subscribe(),
      await subscribe({ events: ['loan_received'], fundIds: [FUND, OTHER_FUND] }),
      await subscribe({ events: ['loan_approved', '*'] }),
    ];
    const others = [
      await subscribe({ events: ['loan_approved'] }),
      await subscribe({ fundIds: [OTHER_FUND] }),
      await subscribe({ applicationId: randomUUID() }),
    ];
    const one = event();
    await fanOut()([one]);
    for (const webhookId of [all, named, mixed]) expect(await queuedFor(webhookId)).toEqual([one.eventId]);
    for (const webhookId of others) expect(await queuedFor(webhookId)).toEqual([]);
    expect(woken.map((ids) => new Set(ids))).toEqual([new Set([all, named, mixed])]);
  });

  test('once, however often the bus brings it', async () => {
    const webhookId = await subscribe();
    const batch = [event(), event({ sequence: 1 })];
    for (let i = 0; i < 3; i++) await fanOut()(batch);
    expect(await queuedFor(webhookId)).toEqual(batch.map(({ eventId }) => eventId));
  });

  test('for paused subscriptions as well', async () => {
    const webhookId = await subscribe();
    await subscriptions.update(application, webhookId, { status: 'paused' }, T0);
    const one = event();
    await fanOut()([one]);
    expect(await queuedFor(webhookId)).toEqual([one.eventId]);
  });

  test('for a subscription made a moment before, also by another process', async () => {
    const consumer = fanOut();
    await consumer([event()]);
    const webhookId = await subscribe();
    const one = event();
    await consumer([one]);
    expect(await queuedFor(webhookId)).toEqual([one.eventId]);
  });

  test('for several applications of one batch, each its own', async () => {
    const mine = await subscribe();
    const theirs = await subscribe({ applicationId: 'another-application' });
    const [one, two] = [event(), event({ applicationId: 'another-application' })];
    await fanOut()([one, two]);
    expect([await queuedFor(mine), await queuedFor(theirs)]).toEqual([[one.eventId], [two.eventId]]);
  });

  test('for nobody, quietly, when nobody asks for it', async () => {
    await fanOut()([event()]);
    await fanOut()([]);
    expect(woken).toEqual([]);
  });
});

describe('where the log says what came first, the clocks say nothing', () => {
  const hour = (h: number): string => `2026-01-15T${String(h).padStart(2, '0')}:00:00.000Z`;
  const at = (place: string): LogPosition => place as LogPosition;

  test.each(['0', '99', '100', '9223372036854775807'])(
    'an event behind place %s is sent, however far back its time is',
    async (place) => {
      const webhookId = await subscribe({ beginsAt: at(place) });
      const old = event({ position: at(place), timestamp: hour(23) });
      const next = event({
        position: at(String(BigInt(place) + 1n)),
        sequence: 1,
        timestamp: '1970-01-01T00:00:00.000Z',
      });
      await fanOut()([old, next]);
      expect(await queuedFor(webhookId)).toEqual([next.eventId]);
    },
  );

  test('two subscriptions of one application each begin at their own place', async () => {
    const [first, second] = [await subscribe({ beginsAt: 'start' }), await subscribe({ beginsAt: at('2') })];
    const events = [1, 2, 3].map((n) =>
      event({ position: at(String(n)), sequence: n, timestamp: hour(10 - n) }),
    );
    await fanOut()(events);
    const ids = events.map(({ eventId }) => eventId);
    expect([await queuedFor(first), await queuedFor(second)]).toEqual([ids, ids.slice(2)]);
  });

  test('the places of EventStoreDB are read as numbers, not as text', async () => {
    const webhookId = await subscribe({ beginsAt: at('9999/9999') });
    const [old, next] = [
      event({ position: at('9999/9999') }),
      event({ position: at('10000/10000'), sequence: 1, timestamp: hour(1) }),
    ];
    await fanOut(1_000)([old, next]);
    expect(await queuedFor(webhookId)).toEqual([next.eventId]);
  });

  test.each<[string, Partial<NewSubscription>, Partial<PublicEvent>]>([
    ['a subscription of an earlier release', {}, { position: at('5') }],
    ['a message of an earlier release', { beginsAt: at('5') }, {}],
    ['a place of the engine before a move', { beginsAt: at('700/700') }, { position: at('5') }],
    ['a place that is none', { beginsAt: at('5') }, { position: at('unknown') }],
  ])('with %s the times decide', async (_, subscription, change) => {
    const webhookId = await subscribe(subscription);
    const [old, now] = [event({ ...change, timestamp: hour(11) }), event({ ...change, sequence: 1 })];
    await fanOut()([old, now]);
    expect(await queuedFor(webhookId)).toEqual([now.eventId]);
  });
});

describe('an event from before a subscription', () => {
  const before = '2026-01-15T11:59:59.999Z';

  test('is not sent to it', async () => {
    const webhookId = await subscribe();
    const [old, now] = [event({ timestamp: before }), event({ sequence: 1 })];
    await fanOut()([old, now]);
    expect(await queuedFor(webhookId)).toEqual([now.eventId]);
  });

  test('may be, where the clocks of two processes may differ by as much', async () => {
    const webhookId = await subscribe();
    const [near, far] = [event({ timestamp: before }), event({ timestamp: '2026-01-15T11:59:57.000Z' })];
    await fanOut(2_000)([near, far]);
    expect(await queuedFor(webhookId)).toEqual([near.eventId]);
  });
});
