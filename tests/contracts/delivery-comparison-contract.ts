import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { BUCKET_CHARACTERS } from '../../application/webhooks/delivery-comparison.ts';
import type { DeliveryComparison } from '../../application/webhooks/delivery-comparison.ts';
import type { LogPosition } from '../../application/ports/event-store.ts';
import { firstIdAt } from '../../application/support/time-ordered-id.ts';
import { Story, at, retry } from './delivery-queue-samples.ts';
import type { QueueUnderTest } from './delivery-queue-samples.ts';

interface DeliveryComparisonFixture {
  readonly comparison: DeliveryComparison;
  readonly adapter: QueueUnderTest;
  close(): Promise<void>;
}

const DAY_MS = 86_400_000;
const PLACE = '9007199254740993/17' as LogPosition;

export const describeDeliveryComparisonContract = (
  adapter: string,
  open: () => Promise<DeliveryComparisonFixture>,
): void => {
  describe(`${adapter} keeps the promises of the comparison of deliveries`, () => {
    let fixture: DeliveryComparisonFixture;
    beforeAll(async () => {
      fixture = await open();
    });
    afterAll(() => fixture.close());

    test('the place of a filter is told as long as it is the filter', async () => {
      const story = new Story(fixture.adapter);
      const { subscriptions } = fixture.adapter;
      const webhookId = await story.subscribe();
      const { applicationId } = story;
      const place = async () => (await fixture.comparison.subscriptions(applicationId))[0]?.filterFrom;
      expect(await place()).toBeNull();
      await subscriptions.noteFilter({ webhookId, events: ['*'], fundIds: null }, PLACE);
      expect(await place()).toBe(PLACE);
      await subscriptions.update(applicationId, webhookId, { status: 'paused' }, at(1));
      expect(await place()).toBe(PLACE);
      const fundIds = [randomUUID()];
      await subscriptions.update(applicationId, webhookId, { fundIds }, at(2));
      expect(await place()).toBeNull();
      await subscriptions.noteFilter({ webhookId, events: ['*'], fundIds: null }, PLACE);
      expect(await place()).toBeNull();
      await subscriptions.noteFilter({ webhookId, events: ['*'], fundIds }, 'start');
      expect(await place()).toBe('start');
      expect((await fixture.comparison.subscriptions()).map((one) => one.webhookId)).toContain(webhookId);
      await subscriptions.remove(applicationId, webhookId, at(3));
      expect(await fixture.comparison.subscriptions(applicationId)).toEqual([]);
    });

    test('a delivery tells whether it waits, was sent in its order, and when that ended', async () => {
      const story = new Story(fixture.adapter);
      const webhookId = await story.subscribe();
      const events = story.events('OP', 3);
      await story.enqueue(webhookId, events);
      const next = await story.deliver(await story.leaseOne(webhookId), 10);
      await story.record(next!, retry(9_000_000), 20);
      const lost = { ...story.event('OP'), sequence: 9 };
      await fixture.adapter.queue.redeliver(lost, [webhookId], at(30));
      const ids = [...events, lost].map(({ eventId }) => eventId);
      const found = await fixture.comparison.ofEvents([...ids, randomUUID()]);
      const told = ids.map((id) => found.find(({ eventId }) => eventId === id));
      const nothing = { waits: false, attempted: false, endedAt: null };
      expect(told).toMatchObject([
        { webhookId, sequence: 0, waits: false, attempted: true, endedAt: at(10) },
        { webhookId, sequence: 1, waits: true, attempted: true },
        { webhookId, sequence: 2, ...nothing, waits: true },
        { webhookId, sequence: 9, ...nothing },
      ]);
      // An event that was never queued is kept with its delivery.
      expect(await fixture.adapter.queue.findEvent(story.applicationId, lost.eventId)).toEqual({
        event: lost,
        webhookIds: [webhookId],
      });
    });

    test('deliveries are counted and paged by when they were made, without pings', async () => {
      const story = new Story(fixture.adapter);
      const ping = story.event('none', { name: 'webhook.ping', code: null, fundId: null });
      const webhookId = await story.subscribe({ ping });
      const [first, second, later] = story.events('OP', 3);
      await story.enqueue(webhookId, [first!, second!]);
      await story.enqueue(webhookId, [later!], DAY_MS);
      const [from, to] = [firstIdAt(Date.parse(at(0))), firstIdAt(Date.parse(at(2 * DAY_MS)))];
      const counts = await fixture.comparison.counts(webhookId, from, to);
      expect(counts.map(({ deliveries }) => deliveries).toSorted()).toEqual([1, 2]);
      const { bucket } = counts.find(({ deliveries }) => deliveries === 2)!;
      expect(bucket).toBe(from.slice(0, BUCKET_CHARACTERS));
      const page = await fixture.comparison.page(webhookId, { after: bucket, to }, 2);
      expect(page.map(({ eventId }) => eventId)).toEqual([first!.eventId, second!.eventId]);
      expect(page[1]!.event).toEqual({ name: second!.name, code: 'OP', sequence: 1, timestamp: at(0) });
      const rest = await fixture.comparison.page(webhookId, { after: page[1]!.deliveryId, to }, 2);
      expect(rest.map(({ eventId }) => eventId)).toEqual([later!.eventId]);
    });
  });
};
