import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { decodeLoanEvent } from '../../../application/event-codec/event-codec.ts';
import type { PublicEvent } from '../../../application/ports/event-bus.ts';
import type { DeadLetter, DeadLetters } from '../../../application/webhooks/late-events.ts';
import { PublicEventTranslator } from '../../../application/publication/public-events.ts';
import { fanOutTo } from '../../../application/webhooks/fan-out.ts';
import { LateEvents } from '../../../application/webhooks/late-events.ts';
import { DeliveryLog } from '../../../application/webhooks/delivery-log.ts';
import { logOrder } from '../../../infrastructure/composition/read-models.ts';
import { DeliveryQueue } from '../../../application/webhooks/queue/delivery-queue.ts';
import { WebhookSubscriptions } from '../../../application/webhooks/subscriptions.ts';
import { openServiceDatabase } from '../../support/sql/temporary-database.ts';
import type { TemporaryDatabase } from '../../support/sql/temporary-database.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { StoryLog, streamOf } from '../projecting/story-log.ts';

let store: TemporaryDatabase;
beforeAll(async () => void (store = await openServiceDatabase()));
afterAll(() => store.close());

const GROUP = 'webhooks';

test('an event that was put aside is queued once, from the log, into the lane of its operation', async () => {
  const log = new StoryLog();
  await log.tellWhole('A');
  const translator = new PublicEventTranslator({
    decode: decodeLoanEvent,
    events: log,
    funds: new Map(),
    apiVersion: '2026.11.2',
  });
  const published = await translator.translate((await log.read(streamOf('A'))).events);
  const [late, newer] = [published[1]!, published[2]!];
  const letter = (changes: Partial<DeadLetter>): DeadLetter => ({
    ...{ eventId: late.eventId, name: late.name, applicationId: 'app-1', code: 'A', group: GROUP },
    ...{ reason: 'late', topic: 'receivables.events', partition: 4, offset: 0 },
    ...{ putAsideAt: '2026-01-15T12:00:00.000Z', ...changes },
  });
  const handled = new Set<string>();
  const letters: DeadLetters = {
    list: async () => [
      letter({}),
      letter({ offset: 1 }),
      letter({ eventId: randomUUID(), offset: 2 }),
      letter({ eventId: undefined, code: undefined, offset: 3 }),
      letter({ group: 'another' }),
    ],
    isHandled: async (_, { eventId }: PublicEvent) => handled.has(eventId),
    noteHandled: async (_, { eventId }: PublicEvent) => void handled.add(eventId),
  };
  const subscriptions = new WebhookSubscriptions(store.database);
  const webhookId = randomUUID();
  const createdAt = '2020-01-01T00:00:00.000Z';
  const rest = { events: ['*'], fundIds: null, description: null, sealedSecret: 's' };
  const subscription = { webhookId, applicationId: 'app-1', createdAt, url: 'https://r.example/', ...rest };
  await subscriptions.add(subscription, 20);
  const queue = new DeliveryQueue(store.database);
  const parts = { subscriptions, queue, clock: new ManualClock(), clockToleranceMs: 0 };
  const fanOut = fanOutTo({ ...parts, order: logOrder });
  await fanOut([newer]);
  const lateEvents = new LateEvents({ letters, group: GROUP, events: log, translator, fanOut, queue });

  const [first, unknown, other, ...more] = await lateEvents.list();
  expect(more).toEqual([]);
  expect(first).toMatchObject({ event: late, handled: false });
  expect(other).toMatchObject({ eventId: undefined, event: undefined });
  const send = async (one: typeof first) => lateEvents.send(one as Parameters<typeof lateEvents.send>[0]);
  const { eventId } = late;
  expect(await send(unknown)).toMatchObject({ outcome: 'unknown', webhookIds: [] });
  expect(await send(first)).toEqual({ eventId, outcome: 'queued', webhookIds: [webhookId] });
  expect(await send(first)).toEqual({ eventId, outcome: 'already', webhookIds: [] });
  // Also where the note was lost, or could not be written.
  handled.clear();
  expect(await send(first)).toEqual({ eventId, outcome: 'queued', webhookIds: [] });
  expect((await lateEvents.list())[0]).toMatchObject({ handled: true });

  const sent = await new DeliveryLog(store.database).list({ webhookId, limit: 10 });
  expect(sent.deliveries.map((one) => one.eventId).toSorted()).toEqual(
    [late.eventId, newer.eventId].toSorted(),
  );
  // What still waits in the lane goes out after it.
  const now = new ManualClock().realNow();
  const until = new Date(Date.parse(now) + 30_000).toISOString();
  const leased = await queue.lease([{ webhookId, firstAttempts: 9, retries: 9 }], now, until);
  expect(leased.deliveries.map(({ event }) => event.eventId)).toEqual([late.eventId]);
});
