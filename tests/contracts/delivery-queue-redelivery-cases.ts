import { randomUUID } from 'node:crypto';
import { expect } from '@jest/globals';
import type { LeasedDelivery } from '../../application/webhooks/queue/lease-lanes.ts';
import type { WebhookEvent } from '../../application/webhooks/queue/enqueue.ts';
import { DELIVERED, FAILED, at, retry } from './delivery-queue-samples.ts';
import type { Story, StoryCase } from './delivery-queue-samples.ts';

const redeliver = async (story: Story, webhookId: string, event: WebhookEvent, ms = 0) => {
  const [redelivery] = await story.adapter.queue.redeliver(event, [webhookId], at(ms));
  return redelivery!;
};

const claimRedelivery = async (story: Story, webhookId: string, ms = 0): Promise<LeasedDelivery> => {
  const found = (await story.lease(webhookId, ms)).find(({ redelivery }) => redelivery);
  if (!found) throw new Error('no redelivery claimed');
  return found;
};

export const redeliveryCases: readonly StoryCase[] = [
  {
    name: 'an event is found with whom it was queued for, by its own application only',
    check: async (story, webhookId) => {
      const event = story.event('OP-1');
      await story.enqueue(webhookId, [event]);
      const found = await story.adapter.queue.findEvent(story.applicationId, event.eventId);
      expect(found).toEqual({ event, webhookIds: [webhookId] });
      expect(await story.adapter.queue.findEvent(randomUUID(), event.eventId)).toBeUndefined();
      expect(await story.adapter.queue.findEvent(story.applicationId, randomUUID())).toBeUndefined();
    },
  },
  {
    name: 'a delivered event is sent once more with the same bytes and the next number, and stays delivered if that fails',
    check: async (story, webhookId) => {
      const event = story.event('OP-1');
      await story.enqueue(webhookId, [event]);
      const first = await story.leaseOne(webhookId);
      await story.deliver(first, 10);
      const redelivery = await redeliver(story, webhookId, event, 20);
      expect(redelivery).toEqual({ webhookId, deliveryId: first.deliveryId, attempt: 2 });
      expect(await story.recordOf(webhookId, event)).toMatchObject({ attempts: 1, lastResponseStatus: 200 });
      const again = await claimRedelivery(story, webhookId, 20);
      expect(again).toMatchObject({ attempt: 2, deliveryId: first.deliveryId, event });
      expect(await story.record(again, FAILED, 30, true)).toEqual({ kind: 'released' });
      const record = await story.recordOf(webhookId, event);
      expect(record).toMatchObject({
        status: 'delivered',
        deliveredAt: at(10),
        attempts: 2,
        lastResponseStatus: 503,
      });
      expect(record.attemptLog.map(({ attempt, responseStatus }) => [attempt, responseStatus])).toEqual([
        [1, 200],
        [2, 503],
      ]);
      expect(await story.lease(webhookId, 1_000_000)).toEqual([]);
    },
  },
  {
    name: 'a failed delivery that is sent again successfully is delivered',
    check: async (story, webhookId) => {
      const event = story.event('OP-1');
      await story.enqueue(webhookId, [event]);
      await story.record(await story.leaseOne(webhookId), FAILED);
      await redeliver(story, webhookId, event, 100);
      await story.record(await claimRedelivery(story, webhookId, 100), DELIVERED, 110);
      expect(await story.recordOf(webhookId, event)).toMatchObject({
        status: 'delivered',
        deliveredAt: at(110),
        attempts: 2,
        lastError: null,
      });
    },
  },
  {
    name: 'it does not wait for its lane, and the lane does not wait for it',
    check: async (story, webhookId) => {
      const [done, blocked, waiting] = story.events('OP-1', 3);
      await story.enqueue(webhookId, [done!]);
      await story.deliver(await story.leaseOne(webhookId));
      await story.enqueue(webhookId, [blocked!, waiting!]);
      await story.record(await story.leaseOne(webhookId), retry(60_000));
      await redeliver(story, webhookId, done!, 10);
      const sent = await claimRedelivery(story, webhookId, 10);
      expect(sent.event.eventId).toBe(done!.eventId);
      await story.record(sent, DELIVERED, 20);
      expect((await story.leaseOne(webhookId, 60_000)).event.eventId).toBe(blocked!.eventId);
    },
  },
  {
    name: 'delivered by hand, a waiting head no longer holds its lane',
    check: async (story, webhookId) => {
      const [head, next] = story.events('OP-1', 2);
      await story.enqueue(webhookId, [head!, next!]);
      await story.record(await story.leaseOne(webhookId), retry(60_000));
      await redeliver(story, webhookId, head!, 10);
      await story.record(await claimRedelivery(story, webhookId, 10), DELIVERED, 20);
      const following = await story.leaseOne(webhookId, 20);
      expect(following.event.eventId).toBe(next!.eventId);
      expect(await story.deliver(following, 30)).toBeUndefined();
    },
  },
  {
    name: 'failed by hand, a waiting head keeps its place, its time and its schedule',
    check: async (story, webhookId) => {
      const head = story.event('OP-1');
      await story.enqueue(webhookId, [head]);
      await story.record(await story.leaseOne(webhookId), retry(60_000));
      await redeliver(story, webhookId, head, 10);
      await story.record(await claimRedelivery(story, webhookId, 10), FAILED, 20);
      const record = await story.recordOf(webhookId, head);
      expect(record).toMatchObject({ status: 'retrying', attempts: 2, nextAttemptAt: at(60_000) });
      expect(await story.leaseOne(webhookId, 60_000)).toMatchObject({ attempt: 3, scheduledAttempts: 1 });
    },
  },
  {
    name: 'what was delivered by hand stays so when the lane’s own attempt fails later',
    check: async (story, webhookId) => {
      const [head, next] = story.events('OP-1', 2);
      await story.enqueue(webhookId, [head!, next!]);
      const underWay = await story.leaseOne(webhookId);
      expect((await redeliver(story, webhookId, head!)).attempt).toBe(2);
      await story.record(await claimRedelivery(story, webhookId), DELIVERED, 10);
      await story.record(underWay, retry(60_000), 20);
      const record = await story.recordOf(webhookId, head!);
      expect(record).toMatchObject({ status: 'delivered', deliveredAt: at(10), attempts: 2 });
      expect(record.attemptLog.map(({ attempt }) => attempt)).toEqual([1, 2]);
      expect((await story.leaseOne(webhookId, 20)).event.eventId).toBe(next!.eventId);
    },
  },
  {
    name: 'no two attempts of a delivery carry the same number',
    check: async (story, webhookId) => {
      const [head, next] = story.events('OP-1', 2);
      await story.enqueue(webhookId, [head!, next!]);
      const underWay = await story.leaseOne(webhookId);
      const asked = await Promise.all(
        [head!, head!, head!].map((event) => redeliver(story, webhookId, event)),
      );
      expect([underWay.attempt, ...asked.map(({ attempt }) => attempt)].toSorted()).toEqual([1, 2, 3, 4]);
      expect((await redeliver(story, webhookId, next!)).attempt).toBe(1);
      const claimed = await story.lease(webhookId);
      expect(claimed.map(({ attempt }) => attempt).toSorted()).toEqual([1, 2, 3, 4]);
      const following = await story.deliver(underWay);
      expect([following!.event.eventId, following!.attempt]).toEqual([next!.eventId, 2]);
    },
  },
  {
    name: 'nor where the result of the lane’s own comes after the end of its lease',
    check: async (story, webhookId) => {
      const event = story.event('OP-1');
      await story.enqueue(webhookId, [event]);
      const late = await story.leaseOne(webhookId);
      const { attempt } = await redeliver(story, webhookId, event, 20_000);
      await story.record(late, retry(90_000), 20_010);
      await story.record(await claimRedelivery(story, webhookId, 20_020), FAILED, 20_030);
      const { attemptLog } = await story.recordOf(webhookId, event);
      expect([late.attempt, attempt, attemptLog.map((one) => one.attempt)]).toEqual([1, 2, [1, 2]]);
    },
  },
  {
    name: 'nor where an attempt was made again by another process under the next number',
    check: async (story, webhookId) => {
      const event = story.event('OP-1');
      await story.enqueue(webhookId, [event]);
      expect((await story.leaseOne(webhookId)).attempt).toBe(1);
      const asked = [await redeliver(story, webhookId, event, 10)];
      const both = await story.lease(webhookId, 20_000);
      for (const one of both) await story.record(one, one.redelivery ? FAILED : retry(90_000), 20_010);
      asked.push(await redeliver(story, webhookId, event, 20_020));
      await story.record(await claimRedelivery(story, webhookId, 20_030), FAILED, 20_040);
      const { attemptLog } = await story.recordOf(webhookId, event);
      const numbers = attemptLog.map(({ attempt }) => attempt);
      expect([asked.map(({ attempt }) => attempt), numbers]).toEqual([
        [2, 4],
        [2, 3, 4],
      ]);
    },
  },
  {
    name: 'a subscription that never had the event gets it, and shows it as failed when that does not work',
    check: async (story) => {
      const [one, later] = [await story.subscribe(), await story.subscribe()];
      const event = story.event('OP-1');
      await story.enqueue(one, [event]);
      const redelivery = await redeliver(story, later, event, 10);
      expect(redelivery).toMatchObject({ webhookId: later, attempt: 1 });
      const delivery = await story.leaseOne(later, 10);
      expect(delivery).toMatchObject({
        deliveryId: redelivery.deliveryId,
        attempt: 1,
        redelivery: true,
        event,
      });
      await story.record(delivery, FAILED, 20);
      expect(await story.recordOf(later, event)).toMatchObject({ status: 'failed', attempts: 1 });
      expect(await story.lease(later, 1_000_000)).toEqual([]);
    },
  },
  {
    name: 'asked for before the event is queued, it costs the event neither its place nor its schedule',
    check: async (story, webhookId) => {
      const [early, next] = story.events('OP-1', 2);
      await redeliver(story, webhookId, early!);
      await story.record(await claimRedelivery(story, webhookId), FAILED, 10);
      expect(await story.enqueue(webhookId, [early!, next!], 20)).toBe(2);
      expect(await story.recordOf(webhookId, early!)).toMatchObject({ status: 'retrying', attempts: 1 });
      const head = await story.leaseOne(webhookId, 20);
      expect(head).toMatchObject({ event: early, attempt: 2, scheduledAttempts: 0, redelivery: false });
      expect(await story.enqueue(webhookId, [early!, next!], 30)).toBe(0);
      expect((await story.deliver(head, 30))!.event).toEqual(next);
      expect(await story.enqueue(webhookId, [early!], 40)).toBe(0);
    },
  },
  {
    name: 'its lease ends like any other: the same attempt is made again',
    check: async (story, webhookId) => {
      const event = story.event('OP-1');
      await story.enqueue(webhookId, [event]);
      await story.deliver(await story.leaseOne(webhookId));
      await redeliver(story, webhookId, event);
      const lost = await claimRedelivery(story, webhookId);
      const taken = await claimRedelivery(story, webhookId, 20_000);
      expect(taken.attempt).toBe(2);
      expect(await story.record(lost, FAILED, 20_001)).toEqual({ kind: 'lease_lost' });
      expect(await story.record(taken, DELIVERED, 20_002)).toEqual({ kind: 'released' });
    },
  },
];
