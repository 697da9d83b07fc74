import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { SqlDatabase } from '../../application/sql/sql-database.ts';
import type { LeasedDelivery } from '../../application/webhooks/queue/lease-lanes.ts';
import { RangeRedeliveries } from '../../application/webhooks/queue/range-redeliveries.ts';
import type { RangeRedelivery } from '../../application/webhooks/queue/range-redeliveries.ts';
import { queueOn } from './webhook-desk-contract.ts';
import type { WebhookEvent } from '../../application/webhooks/queue/enqueue.ts';
import { DELIVERED, FAILED, LEASE_MS, Story, at, idsOf } from './delivery-queue-samples.ts';
import type { QueueUnderTest } from './delivery-queue-samples.ts';

interface Fixture {
  readonly adapter: QueueUnderTest & { readonly ranges: RangeRedeliveries; readonly database: SqlDatabase };
  close(): Promise<void>;
}

const DAY_MS = 86_400_000;
const LONG_AFTER_MS = 200 * DAY_MS;

class RangeStory extends Story {
  readonly #fixture: Fixture['adapter'];

  constructor(fixture: Fixture['adapter']) {
    super(fixture);
    this.#fixture = fixture;
  }

  get ranges(): RangeRedeliveries {
    return this.#fixture.ranges;
  }

  /** Deliveries that are over, as if every attempt had been made. */
  async over(
    webhookId: string,
    events: readonly WebhookEvent[],
    ms = 0,
    status: 'failed' | 'delivered' = 'failed',
  ) {
    const { builder } = this.#fixture.database;
    await this.enqueue(webhookId, events, ms);
    const ids = events.map(({ eventId }) => eventId);
    const ended = builder
      .updateTable('webhook_delivery')
      .set({ status, waiting_lane: null, next_attempt_at: null, finished_at: at(ms), attempts: 8 })
      .where('webhook_id', '=', webhookId)
      .where('event_id', 'in', ids);
    const attempts = builder
      .insertInto('webhook_attempt')
      .columns(['delivery_id', 'attempt', 'started_at', 'duration_ms'])
      .expression(
        builder
          .selectFrom('webhook_delivery')
          .select((eb) => ['delivery_id', eb.lit(1).as('attempt'), 'created_at', eb.lit(0).as('duration_ms')])
          .where('webhook_id', '=', webhookId)
          .where('event_id', 'in', ids),
      );
    const lanes = builder.deleteFrom('webhook_lane').where('webhook_id', '=', webhookId);
    await this.#fixture.database.transaction(
      [ended, attempts, lanes].map((query) => ({ query: query.compile() })),
    );
  }

  async begin(webhookId: string, span: { choice?: 'failed' | 'any'; since?: number; until?: number } = {}) {
    const redeliveryId = randomUUID();
    const begun = await this.ranges.begin({
      redeliveryId,
      webhookId,
      applicationId: this.applicationId,
      choice: span.choice ?? 'failed',
      since: at(span.since ?? 0),
      until: at(span.until ?? 60_000),
      createdAt: at(60_000),
    });
    return begun ? redeliveryId : undefined;
  }

  async start(webhookId: string, span: Parameters<RangeStory['begin']>[1] = {}): Promise<string> {
    const id = await this.begin(webhookId, span);
    if (id === undefined) throw new Error('one runs already');
    await this.ranges.select(id, at(60_000));
    return id;
  }

  async shown(webhookId: string, id: string): Promise<RangeRedelivery> {
    const found = await this.ranges.find(this.applicationId, webhookId, id);
    if (!found) throw new Error('no such redelivery');
    return found;
  }

  /** Steps until nothing more changes, and leases what is queued then. */
  async queued(webhookId: string, ms = 60_000): Promise<readonly LeasedDelivery[]> {
    while (await this.ranges.step(webhookId, at(ms)));
    return this.lease(webhookId, ms, { firstAttempts: 50, retries: 50 });
  }

  async unanswered(delivery: LeasedDelivery, ms: number): Promise<void> {
    const result = this.result(delivery, FAILED, ms);
    const record = { ...result.record, responseStatus: null, error: 'connection refused' };
    await this.adapter.queue.record([{ ...result, record }], at(ms), at(ms + LEASE_MS));
  }

  async swept(before: number): Promise<void> {
    const retention = {
      deliveredBefore: at(before),
      failedBefore: at(before),
      removedBefore: at(before - DAY_MS),
      limit: 100,
    };
    while ((await this.adapter.queue.cleanUp(retention)) > 0);
  }

  async itemsLeft(id: string): Promise<number> {
    const { database } = this.#fixture;
    const query = database.builder
      .selectFrom('webhook_redelivery_item')
      .select((eb) => eb.fn.countAll<number | string>().as('count'))
      .where('redelivery_id', '=', id);
    return Number((await database.read(query))[0]!.count);
  }
}

type Case = readonly [name: string, check: (story: RangeStory) => Promise<void>];

const selectionCases: readonly Case[] = [
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

const orderCases: readonly Case[] = [
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

const endCases: readonly Case[] = [
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
    'what retention removed meanwhile is gone, before its attempt and while it is queued',
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
        ...{ status: 'completed', queued: 3, gone: 2, delivered: 1, failed: 0 },
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

export const rangesOn = (database: SqlDatabase): Fixture['adapter'] => ({
  ...queueOn(database),
  ranges: new RangeRedeliveries(database),
  database,
});

/** Registers every promise as a test of this adapter; there is no way to leave one out. */
export const describeRangeRedeliveryContract = (adapter: string, open: () => Promise<Fixture>): void => {
  describe(`${adapter} keeps the promises of redeliveries of a span of time`, () => {
    let fixture: Fixture;
    beforeAll(async () => {
      fixture = await open();
    });
    afterAll(() => fixture.close());
    test.each([...selectionCases, ...orderCases, ...endCases])('%s', (_, check) =>
      check(new RangeStory(fixture.adapter)),
    );
  });
};
