import { randomUUID } from 'node:crypto';
import { expect } from '@jest/globals';
import type { SqlDatabase } from '../../application/sql/sql-database.ts';
import { RangeRedeliveries } from '../../application/webhooks/queue/range-redeliveries.ts';
import { DELIVERED, FAILED, LEASE_MS, at, idsOf, queueOn } from './delivery-queue-samples.ts';
import { rangeEndCases } from './range-redelivery-end-cases.ts';
import { RangeStory } from './range-redelivery-samples.ts';
import type { RangeCase, RangesFixture } from './range-redelivery-samples.ts';

const selectionCases: readonly RangeCase[] = [
  [
    'what failed in the span is selected, without what waits, was delivered, or was made before or after it',
    async (story) => {
      const webhookId = await story.subscribe();
      const [before, first, last, after] = story.events('OP-1', 4);
      await story.over(webhookId, [before!], 999);
      await story.over(webhookId, [first!], 1_000);
      await story.over(webhookId, [last!], 1_999);
      await story.over(webhookId, [after!], 2_000);
      await story.over(webhookId, [story.event('OP-2')], 1_500, 'delivered');
      await story.enqueue(webhookId, [story.event('OP-3')], 1_500);
      const id = await story.start(webhookId, { since: 1_000, until: 2_000 });
      expect(await story.shown(webhookId, id)).toEqual({
        ...{ redeliveryId: id, webhookId, status: 'running', since: at(1_000), until: at(2_000) },
        ...{ queued: 2, gone: 0, delivered: 0, failed: 0, createdAt: at(60_000), completedAt: null },
      });
    },
  ],
  [
    'with any, what was delivered is selected as well, pings too, and never what is on its way',
    async (story) => {
      const webhookId = await story.subscribe();
      await story.over(webhookId, [story.event('OP-1')], 10);
      const ping = story.event('ping', { name: 'webhook.ping', code: null, fundId: null });
      await story.over(webhookId, [story.event('OP-2'), ping], 10, 'delivered');
      await story.enqueue(webhookId, [story.event('OP-3')], 10);
      const id = await story.start(webhookId, { choice: 'any' });
      expect((await story.shown(webhookId, id)).queued).toBe(3);
      expect((await story.queued(webhookId)).filter(({ redelivery }) => redelivery)).toHaveLength(3);
    },
  ],
  [
    'where nothing is to be sent it is completed at once, and another may begin',
    async (story) => {
      const webhookId = await story.subscribe();
      const id = await story.start(webhookId);
      expect(await story.shown(webhookId, id)).toMatchObject({
        status: 'completed',
        queued: 0,
        completedAt: at(60_000),
      });
      expect(await story.begin(webhookId)).toBeDefined();
    },
  ],
  [
    'one runs at a webhook at a time, and only its own application finds it there',
    async (story) => {
      const [webhookId, other] = [await story.subscribe(), await story.subscribe()];
      await story.over(webhookId, [story.event('OP-1')]);
      const id = await story.start(webhookId);
      expect(await story.begin(webhookId)).toBeUndefined();
      expect((await story.ranges.runningAt(webhookId))?.redeliveryId).toBe(id);
      expect(await story.begin(other)).toBeDefined();
      expect(await story.ranges.find(randomUUID(), webhookId, id)).toBeUndefined();
      expect(await story.ranges.find(story.applicationId, other, id)).toBeUndefined();
      expect(await story.ranges.find(story.applicationId, webhookId, randomUUID())).toBeUndefined();
    },
  ],
  [
    'thousands are selected in steps, by two processes at once and after one that stopped, each once',
    async (story) => {
      const webhookId = await story.subscribe();
      const events = Array.from({ length: 2_500 }, (_, n) => story.event(`OP-${n % 7}`));
      for (let from = 0; from < events.length; from += 500)
        await story.over(webhookId, events.slice(from, from + 500), from);
      const id = (await story.begin(webhookId))!;
      expect(await story.ranges.selectSome(id, at(60_000))).toBe(true);
      const counted = (await story.shown(webhookId, id)).queued;
      expect([counted > 0, counted < 2_500]).toEqual([true, true]);
      expect(await story.ranges.step(webhookId, at(60_000))).toBe(false);
      await Promise.all([story.ranges.select(id, at(60_000)), story.ranges.select(id, at(60_000))]);
      expect([(await story.shown(webhookId, id)).queued, await story.itemsLeft(id)]).toEqual([2_500, 2_500]);
    },
  ],
];

const orderCases: readonly RangeCase[] = [
  [
    'within an operation one after the other by sequence, operations beside each other, the original bytes, the next number',
    async (story) => {
      const webhookId = await story.subscribe();
      const [a0, a1, a2] = story.events('A', 3);
      const b0 = story.event('B');
      // The later event was queued first.
      await story.over(webhookId, [a2!], 10);
      await story.over(webhookId, [b0, a1!, a0!], 20);
      const id = await story.start(webhookId);
      const queued = await story.queued(webhookId);
      const [first, beside, ...none] = queued.toSorted((one, other) =>
        one.event.code! < other.event.code! ? -1 : 1,
      );
      expect([first, beside, none.length]).toEqual([
        expect.objectContaining({ event: a0, attempt: 2, redelivery: true }),
        expect.objectContaining({ event: b0, attempt: 2, redelivery: true }),
        0,
      ]);
      expect(await story.queued(webhookId)).toEqual([]);
      await story.record(first!, FAILED, 60_010);
      const [second] = await story.queued(webhookId, 60_020);
      expect(second!.event).toEqual(a1);
      await story.record(second!, DELIVERED, 60_030);
      await story.record(beside!, DELIVERED, 60_030);
      const third = await story.queued(webhookId, 60_040);
      expect(idsOf(third)).toEqual([a2!.eventId]);
      expect(await story.shown(webhookId, id)).toMatchObject({
        status: 'running',
        queued: 4,
        delivered: 2,
        failed: 1,
      });
      await story.record(third[0]!, DELIVERED, 60_050);
      expect(await story.queued(webhookId, 60_060)).toEqual([]);
      expect(await story.shown(webhookId, id)).toMatchObject({
        ...{ status: 'completed', queued: 4, gone: 0, delivered: 3, failed: 1, completedAt: at(60_060) },
      });
      expect(await story.recordOf(webhookId, a0!)).toMatchObject({ status: 'failed', attempts: 2 });
      expect(await story.recordOf(webhookId, a2!)).toMatchObject({ status: 'delivered', attempts: 2 });
    },
  ],
  [
    'no more than ten are queued at a time, and what waits in its order is passed',
    async (story) => {
      const webhookId = await story.subscribe();
      const events = Array.from({ length: 25 }, (_, n) => story.event(`OP-${n}`));
      await story.over(webhookId, events);
      const waiting = story.event('OP-1');
      await story.enqueue(webhookId, [waiting], 50_000);
      const id = await story.start(webhookId);
      const sent = new Set<string>();
      for (let ms = 60_000; sent.size < 25; ms += 10) {
        const queued = (await story.queued(webhookId, ms)).filter(({ redelivery }) => redelivery);
        expect([queued.length > 0, queued.length <= 10]).toEqual([true, true]);
        for (const one of queued) {
          expect(sent.has(one.event.eventId)).toBe(false);
          sent.add(one.event.eventId);
          await story.record(one, DELIVERED, ms + 5);
        }
      }
      await story.queued(webhookId, 70_000);
      expect(await story.shown(webhookId, id)).toMatchObject({ status: 'completed', delivered: 25 });
      expect(await story.recordOf(webhookId, waiting)).toMatchObject({ status: 'pending' });
    },
  ],
  [
    'two processes that work on it at once queue each delivery once',
    async (story) => {
      const webhookId = await story.subscribe();
      const events = Array.from({ length: 12 }, (_, n) => story.event(`OP-${n % 6}`));
      await story.over(webhookId, events);
      const id = await story.start(webhookId);
      const seen: string[] = [];
      for (let ms = 60_000; (await story.shown(webhookId, id)).status === 'running'; ms += 10) {
        await Promise.all([1, 2, 3].map(() => story.ranges.step(webhookId, at(ms))));
        for (const one of await story.lease(webhookId, ms)) {
          seen.push(one.event.eventId);
          await story.record(one, DELIVERED, ms);
        }
      }
      expect([seen.length, new Set(seen).size]).toEqual([12, 12]);
      expect((await story.shown(webhookId, id)).delivered).toBe(12);
    },
  ],
  [
    'an attempt whose process died before the note is made again under the same number, and counted once',
    async (story) => {
      const webhookId = await story.subscribe();
      const events = story.events('A', 2);
      await story.over(webhookId, events);
      const id = await story.start(webhookId);
      const [lost] = await story.queued(webhookId);
      const later = 60_000 + LEASE_MS + 1;
      const [again] = await story.queued(webhookId, later);
      expect([again!.event, again!.attempt]).toEqual([lost!.event, lost!.attempt]);
      expect((await story.record(lost!, DELIVERED, later)).kind).toBe('lease_lost');
      await story.record(again!, DELIVERED, later + 10);
      const [next] = await story.queued(webhookId, later + 20);
      expect(next!.event).toEqual(events[1]);
      expect(await story.shown(webhookId, id)).toMatchObject({ delivered: 1, failed: 0 });
    },
  ],
];

export const rangeCases = [...selectionCases, ...orderCases, ...rangeEndCases].map(([name, check]) => ({
  name,
  check: (adapter: RangesFixture) => check(new RangeStory(adapter)),
}));

export const rangesOn = (database: SqlDatabase): RangesFixture => ({
  ...queueOn(database),
  ranges: new RangeRedeliveries(database),
  database,
});
