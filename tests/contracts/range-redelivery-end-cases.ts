import { expect } from '@jest/globals';
import { DELIVERED, FAILED, at } from './delivery-queue-samples.ts';
import type { RangeCase } from './range-redelivery-samples.ts';

const LONG_AFTER_MS = 200 * 86_400_000;

export const rangeEndCases: readonly RangeCase[] = [
  [
    'ten attempts in a row without an answer stop it, after those ten; an answer between starts anew',
    async (story) => {
      const webhookId = await story.subscribe();
      const events = Array.from({ length: 40 }, (_, n) => story.event(`OP-${n}`));
      await story.over(webhookId, events);
      const id = await story.start(webhookId);
      const first = await story.queued(webhookId);
      expect(first).toHaveLength(10);
      for (const one of first.slice(0, 9)) await story.unanswered(one, 60_010);
      expect(await story.queued(webhookId, 60_020)).toEqual([]);
      // An answer all the same, even though no good one.
      await story.record(first[9]!, FAILED, 60_030);
      let attempts = 10;
      for (let ms = 60_040; (await story.shown(webhookId, id)).status === 'running'; ms += 10) {
        const queued = await story.queued(webhookId, ms);
        attempts += queued.length;
        for (const one of queued) await story.unanswered(one, ms);
      }
      expect(attempts).toBe(20);
      expect(await story.shown(webhookId, id)).toMatchObject({
        ...{ status: 'stopped', queued: 40, failed: 20, delivered: 0, completedAt: expect.any(String) },
      });
      expect(await story.queued(webhookId, 90_000)).toEqual([]);
      expect(await story.itemsLeft(id)).toBe(20);
      await story.swept(0);
      expect(await story.itemsLeft(id)).toBe(0);
      expect((await story.shown(webhookId, id)).status).toBe('stopped');
      expect(await story.begin(webhookId)).toBeDefined();
    },
  ],
  [
    'what retention removed before its turn is gone; what is queued already is kept and sent',
    async (story) => {
      const webhookId = await story.subscribe();
      const [queued, later, kept] = [story.event('A'), story.event('A'), story.event('B')];
      await story.over(webhookId, [queued, later], 10);
      await story.over(webhookId, [kept], 30_000);
      const id = await story.start(webhookId);
      await story.ranges.step(webhookId, at(60_000));
      await story.swept(20_000);
      for (let ms = 60_010; (await story.shown(webhookId, id)).status === 'running'; ms += 1_000)
        for (const one of await story.queued(webhookId, ms)) await story.record(one, DELIVERED, ms);
      expect(await story.shown(webhookId, id)).toMatchObject({
        ...{ status: 'completed', queued: 3, gone: 1, delivered: 2, failed: 0 },
      });
    },
  ],
  [
    'a webhook that is paused meanwhile gets nothing until it is resumed',
    async (story) => {
      const webhookId = await story.subscribe();
      await story.over(webhookId, story.events('A', 2));
      const id = await story.start(webhookId);
      const { subscriptions } = story.adapter;
      await story.ranges.step(webhookId, at(60_000));
      await subscriptions.update(story.applicationId, webhookId, { status: 'paused' }, at(60_000));
      expect(await story.queued(webhookId, 70_000)).toEqual([]);
      expect((await story.shown(webhookId, id)).status).toBe('running');
      await subscriptions.update(story.applicationId, webhookId, { status: 'active' }, at(80_000));
      for (let ms = 80_000; (await story.shown(webhookId, id)).status === 'running'; ms += 10)
        for (const one of await story.queued(webhookId, ms)) await story.record(one, DELIVERED, ms);
      expect((await story.shown(webhookId, id)).delivered).toBe(2);
    },
  ],
  [
    'deleting the webhook cancels it at once; it is found for thirty days after that',
    async (story) => {
      const webhookId = await story.subscribe();
      await story.over(webhookId, story.events('A', 250));
      const id = await story.start(webhookId);
      await story.ranges.step(webhookId, at(60_000));
      await story.adapter.subscriptions.remove(story.applicationId, webhookId, at(70_000));
      const cancelled = { status: 'cancelled', queued: 250, completedAt: at(70_000) };
      expect(await story.shown(webhookId, id)).toMatchObject(cancelled);
      expect(await story.ranges.step(webhookId, at(70_000))).toBe(false);
      await story.swept(69_999);
      expect(await story.itemsLeft(id)).toBe(0);
      expect(await story.shown(webhookId, id)).toMatchObject(cancelled);
      await story.swept(70_001);
      expect(await story.ranges.find(story.applicationId, webhookId, id)).toBeUndefined();
    },
  ],
  [
    'what runs for a webhook that another release deleted is cancelled as well, and nothing else is',
    async (story) => {
      const [webhookId, other] = [await story.subscribe(), await story.subscribe()];
      await story.over(webhookId, [story.event('A')]);
      await story.over(other, [story.event('A')]);
      const [id, running] = [await story.start(webhookId), await story.start(other)];
      await story.adapter.subscriptions.remove(story.applicationId, webhookId, at(70_000));
      const unknown = await story.begin(webhookId);
      await story.ranges.cancelRemoved(at(80_000));
      const states = [
        (await story.shown(webhookId, id)).completedAt,
        (await story.shown(webhookId, unknown!)).status,
        (await story.shown(other, running)).status,
      ];
      expect(states).toEqual([at(70_000), 'cancelled', 'running']);
    },
  ],
  [
    'one that runs is kept however old it is',
    async (story) => {
      const webhookId = await story.subscribe();
      await story.over(webhookId, [story.event('A')]);
      const id = await story.start(webhookId);
      await story.swept(LONG_AFTER_MS);
      expect((await story.shown(webhookId, id)).status).toBe('running');
      await story.queued(webhookId, LONG_AFTER_MS);
      expect(await story.shown(webhookId, id)).toMatchObject({ status: 'completed', gone: 1 });
    },
  ],
];
