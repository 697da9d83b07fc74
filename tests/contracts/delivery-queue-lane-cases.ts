import { expect } from '@jest/globals';
import type { LeasedDelivery } from '../../application/webhooks/queue/lease-lanes.ts';
import type { WebhookEvent } from '../../application/webhooks/queue/enqueue.ts';
import { DELIVERED, FAILED, LEASE_MS, at, idsOf, retry } from './delivery-queue-samples.ts';
import type { StoryCase } from './delivery-queue-samples.ts';

export const laneCases: readonly StoryCase[] = [
  {
    name: 'what was queued is claimed byte for byte, with where it goes',
    check: async (story, webhookId) => {
      const event = story.event('OP-1');
      expect(await story.enqueue(webhookId, [event])).toBe(1);
      const delivery = await story.leaseOne(webhookId);
      expect(delivery.event).toEqual(event);
      expect(delivery.endpoint).toEqual({
        webhookId,
        applicationId: story.applicationId,
        url: 'https://receiver.example/hooks',
        sealedSecret: `sealed for ${webhookId}`,
      });
      expect(delivery).toMatchObject({
        attempt: 1,
        scheduledAttempts: 0,
        redelivery: false,
        createdAt: at(0),
      });
    },
  },
  {
    name: 'only the head of a lane is leased, and its deliveries follow one another by sequence',
    check: async (story, webhookId) => {
      const events = story.events('OP-1', 5);
      await story.enqueue(webhookId, events.toReversed());
      let delivery: LeasedDelivery | undefined = await story.leaseOne(webhookId);
      const order: (string | undefined)[] = [];
      while (delivery) {
        order.push(delivery.event.eventId);
        expect(await story.lease(webhookId)).toEqual([]);
        delivery = await story.deliver(delivery);
      }
      expect(order).toEqual(events.map(({ eventId }) => eventId));
      expect(await story.lease(webhookId)).toEqual([]);
    },
  },
  {
    name: 'the same event is queued once for a subscription, however often it comes',
    check: async (story) => {
      const [one, other] = [await story.subscribe(), await story.subscribe()];
      const event = story.event('OP-1');
      expect(await story.enqueue(one, [event])).toBe(1);
      expect(await story.enqueue(one, [event])).toBe(0);
      expect(await story.enqueue(other, [{ ...event }])).toBe(1);
      await story.deliver(await story.leaseOne(one));
      expect(await story.enqueue(one, [{ ...event, body: 'other bytes' }])).toBe(0);
      expect(await story.lease(one)).toEqual([]);
      expect(await story.records(one)).toHaveLength(1);
      expect((await story.leaseOne(other)).event).toEqual(event);
    },
  },
  {
    name: 'a batch is queued whole: what was there before and what it names twice keep their first bytes',
    check: async (story, webhookId) => {
      // 77 rows of each table fit into no single statement of a size that is a power of two.
      const events = Array.from({ length: 77 }, (_, i) => story.event(`OP-${i % 70}`));
      expect(await story.enqueue(webhookId, [events[3]!, events[74]!])).toBe(2);
      const again = [events[3]!, events[76]!].map((event) => ({ ...event, body: 'other bytes' }));
      expect(await story.enqueue(webhookId, [...events, ...again])).toBe(75);
      let leased = await story.lease(webhookId, 0, { firstAttempts: 100, retries: 0 });
      expect(leased).toHaveLength(70);
      const sent: WebhookEvent[] = [];
      while (leased.length > 0) {
        sent.push(...leased.map(({ event }) => event));
        const results = leased.map((delivery) => story.result(delivery, DELIVERED, 0, true));
        const recorded = await story.adapter.queue.record(results, at(0), at(LEASE_MS));
        leased = recorded.flatMap((one) => (one.kind === 'next' ? [one.delivery] : []));
      }
      const byId = (one: WebhookEvent, other: WebhookEvent): number => (one.eventId < other.eventId ? -1 : 1);
      expect(sent.toSorted(byId)).toEqual(events.toSorted(byId));
      const records = await story.records(webhookId);
      expect(records.map(({ status, attemptLog }) => [status, attemptLog.length])).toEqual(
        Array.from({ length: 77 }, () => ['delivered', 1]),
      );
    },
  },
  {
    name: 'a failing head holds back its own lane and nothing else',
    check: async (story) => {
      const [one, other] = [await story.subscribe(), await story.subscribe()];
      const [first, second] = story.events('OP-1', 2);
      const beside = story.event('OP-2');
      await story.enqueue(one, [first!, second!, beside]);
      await story.enqueue(other, [first!, second!]);
      const claimed = await story.lease(one);
      expect(new Set(idsOf(claimed))).toEqual(new Set([first!.eventId, beside.eventId]));
      for (const delivery of claimed) {
        await story.record(delivery, delivery.event.code === 'OP-1' ? retry(30_000) : DELIVERED);
      }
      expect(await story.lease(one, 29_999)).toEqual([]);
      expect((await story.deliver(await story.leaseOne(other)))?.event.eventId).toBe(second!.eventId);
      expect((await story.leaseOne(one, 30_000)).event.eventId).toBe(first!.eventId);
    },
  },
  {
    name: 'a retry is never due before its time, and counts as a retry',
    check: async (story, webhookId) => {
      const event = story.event('OP-1');
      await story.enqueue(webhookId, [event]);
      await story.record(await story.leaseOne(webhookId), retry(30_000), 100);
      expect(await story.recordOf(webhookId, event)).toMatchObject({
        status: 'retrying',
        attempts: 1,
        nextAttemptAt: at(30_000),
        lastResponseStatus: 503,
        lastError: 'http status 503',
      });
      expect(await story.lease(webhookId, 29_999)).toEqual([]);
      expect(await story.lease(webhookId, 30_000, { firstAttempts: 10, retries: 0 })).toEqual([]);
      const [again] = await story.lease(webhookId, 30_000, { firstAttempts: 0, retries: 10 });
      expect(again).toMatchObject({ attempt: 2, scheduledAttempts: 1, redelivery: false });
      expect(again!.event).toEqual(event);
    },
  },
  {
    name: 'after the last attempt the delivery is failed and the lane moves on',
    check: async (story, webhookId) => {
      const [first, second] = story.events('OP-1', 2);
      await story.enqueue(webhookId, [first!, second!]);
      const recorded = await story.record(await story.leaseOne(webhookId), FAILED, 50, true);
      expect(recorded).toMatchObject({
        kind: 'next',
        delivery: { event: { eventId: second!.eventId }, attempt: 1 },
      });
      const record = await story.recordOf(webhookId, first!);
      expect(record).toMatchObject({ status: 'failed', attempts: 1, nextAttemptAt: null, deliveredAt: null });
    },
  },
  {
    name: 'a lane that was emptied opens again with the next event',
    check: async (story, webhookId) => {
      for (const event of story.events('OP-1', 3)) {
        await story.enqueue(webhookId, [event]);
        const delivery = await story.leaseOne(webhookId);
        expect(delivery.event.eventId).toBe(event.eventId);
        expect(await story.record(delivery, DELIVERED, 0, true)).toEqual({ kind: 'emptied' });
      }
    },
  },
  {
    name: 'an event queued while its lane is being worked is the next in it',
    check: async (story, webhookId) => {
      const [first, second] = story.events('OP-1', 2);
      await story.enqueue(webhookId, [first!]);
      const head = await story.leaseOne(webhookId);
      await story.enqueue(webhookId, [second!]);
      expect(await story.lease(webhookId)).toEqual([]);
      expect((await story.deliver(head))?.event.eventId).toBe(second!.eventId);
    },
  },
  {
    name: 'no delivery is stranded when one is queued just as its lane empties',
    check: async (story, webhookId) => {
      const arrived: string[] = [];
      const events = story.events('OP-1', 60);
      await story.enqueue(webhookId, events.slice(0, 1));
      for (const event of events.slice(1)) {
        const [head] = await story.lease(webhookId);
        arrived.push(head!.event.eventId);
        const [, next] = await Promise.all([story.enqueue(webhookId, [event]), story.deliver(head!)]);
        if (next) await story.adapter.queue.release([next.lease], at(0));
      }
      const last = await story.leaseOne(webhookId);
      expect([...arrived, last.event.eventId]).toEqual(events.map(({ eventId }) => eventId));
    },
  },
  {
    name: 'claims take what has been due longest, no more than asked for, and tell what is left',
    check: async (story, webhookId) => {
      for (const [index, code] of ['OP-c', 'OP-a', 'OP-b', 'OP-d'].entries()) {
        await story.enqueue(webhookId, [story.event(code)], index * 10);
      }
      const request = { webhookId, firstAttempts: 2, retries: 0 };
      const claim = await story.adapter.queue.lease([request], at(25), at(9_000));
      expect(new Set(claim.deliveries.map(({ event }) => event.code))).toEqual(new Set(['OP-c', 'OP-a']));
      expect(claim.schedules).toEqual([{ webhookId, firstAttemptAt: at(20), retryAt: null }]);
      await story.record(claim.deliveries[0]!, retry(50_000));
      const schedules = await story.adapter.queue.schedules(at(25));
      expect(schedules.find((one) => one.webhookId === webhookId)).toEqual({
        webhookId,
        firstAttemptAt: at(20),
        retryAt: at(50_000),
        changedAt: at(0),
      });
    },
  },
  {
    name: 'lanes of several subscriptions are claimed in one go',
    check: async (story) => {
      const webhooks = [await story.subscribe(), await story.subscribe(), await story.subscribe()];
      const event = story.event('OP-1');
      for (const webhookId of webhooks.slice(0, 2)) await story.enqueue(webhookId, [event]);
      const requests = webhooks.map((webhookId) => ({ webhookId, firstAttempts: 1, retries: 1 }));
      const { deliveries, schedules } = await story.adapter.queue.lease(requests, at(0), at(1_000));
      expect(new Set(deliveries.map(({ lease }) => lease.webhookId))).toEqual(new Set(webhooks.slice(0, 2)));
      expect(schedules.map(({ webhookId }) => webhookId)).toEqual(webhooks);
    },
  },
  {
    name: 'a lane is claimed once, also by two requests for its subscription in one go',
    check: async (story, webhookId) => {
      const codes = ['OP-a', 'OP-b', 'OP-c'];
      for (const code of codes) await story.enqueue(webhookId, [story.event(code)]);
      const request = { webhookId, firstAttempts: 2, retries: 2 };
      const { deliveries } = await story.adapter.queue.lease([request, request], at(0), at(1_000));
      expect(deliveries.map(({ event }) => event.code).sort()).toEqual(codes);
    },
  },
  {
    name: 'a lane is due when it was queued, however long ago, after others were worked through',
    check: async (story, webhookId) => {
      for (const ms of [0, 10_000, 20_000]) {
        await story.enqueue(webhookId, [story.event(`OP-${ms}`)], ms);
        await story.deliver(await story.leaseOne(webhookId, ms), ms);
      }
      const late = story.event('OP-late');
      // As by a transaction that was under way for long.
      await story.enqueue(webhookId, [late], 5_000);
      await story.adapter.queue.schedules(at(31_000));
      expect((await story.leaseOne(webhookId, 31_000)).event.eventId).toBe(late.eventId);
    },
  },
  {
    name: 'a lane whose next delivery was queued long before is found as soon as it is given back',
    check: async (story, webhookId) => {
      const [first, second] = story.events('OP-1', 2);
      await story.enqueue(webhookId, [first!, second!], 0);
      const delivery = await story.leaseOne(webhookId, 0);
      const other = story.event('OP-2');
      await story.enqueue(webhookId, [other], 12_000);
      await story.deliver(await story.leaseOne(webhookId, 12_000), 12_000);
      await story.record(delivery, DELIVERED, 13_000);
      expect((await story.leaseOne(webhookId, 13_000)).event.eventId).toBe(second!.eventId);
    },
  },
];
