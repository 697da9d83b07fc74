import { expect } from '@jest/globals';
import { DELIVERED, FAILED, LEASE_MS, at, idsOf, retry } from './delivery-queue-samples.ts';
import type { StoryCase } from './delivery-queue-samples.ts';

const HOUR_MS = 3_600_000;
const GAPS = [30_000, 120_000, 600_000];

export const leaseCases: readonly StoryCase[] = [
  {
    name: 'after the clock was set back nothing waits longer than it was meant to',
    check: async (story, webhookId) => {
      const codes = ['PENDING', 'LEASED', 'ONCE', 'TWICE', 'SENT'];
      const events = new Map(codes.map((code) => [code, story.event(code)]));
      const queue = (...of: string[]) =>
        story.enqueue(
          webhookId,
          of.map((code) => events.get(code)!),
        );
      await queue('SENT');
      await story.record(await story.leaseOne(webhookId), DELIVERED);
      await queue('TWICE');
      await story.record(await story.leaseOne(webhookId), retry(0));
      await story.record(await story.leaseOne(webhookId), retry(120_000));
      await queue('ONCE');
      await story.record(await story.leaseOne(webhookId), retry(30_000));
      await queue('LEASED');
      await story.leaseOne(webhookId);
      await story.enqueue(webhookId, [events.get('PENDING')!, story.event('ONCE')], 1_000);
      await story.adapter.queue.redeliver(events.get('SENT')!, [webhookId], at(1_000));

      const now = -HOUR_MS;
      expect(await story.lease(webhookId, now)).toEqual([]);
      await story.adapter.queue.planAnew({ gaps: GAPS, leaseMs: LEASE_MS }, at(now), false);
      const sentAfter = async (ms: number): Promise<readonly (string | null)[]> => {
        const due = await story.lease(webhookId, now + ms);
        for (const delivery of due) await story.record(delivery, DELIVERED, now + ms);
        return due.map(({ event }) => event.code).toSorted();
      };
      expect(await sentAfter(0)).toEqual(['PENDING', 'SENT']);
      expect(await sentAfter(LEASE_MS - 1)).toEqual([]);
      expect(await sentAfter(LEASE_MS)).toEqual(['LEASED']);
      expect(await sentAfter(29_999)).toEqual([]);
      expect(await sentAfter(30_000)).toEqual(['ONCE']);
      expect(await sentAfter(30_000)).toEqual(['ONCE']);
      expect(await sentAfter(119_999)).toEqual([]);
      expect(await sentAfter(120_000)).toEqual(['TWICE']);
      expect((await story.records(webhookId)).every(({ status }) => status === 'delivered')).toBe(true);
    },
  },
  {
    name: 'what was sent since the clock was set back hides nothing from who has seen it',
    check: async (story, webhookId) => {
      await story.enqueue(webhookId, [story.event('OP-1')]);
      await story.record(await story.leaseOne(webhookId), retry(30_000));
      const now = -HOUR_MS;
      await story.enqueue(webhookId, [story.event('OP-2')], now);
      await story.record(await story.leaseOne(webhookId, now), retry(now), now);
      await story.record(await story.leaseOne(webhookId, now), DELIVERED, now);
      await story.adapter.queue.planAnew({ gaps: GAPS, leaseMs: LEASE_MS }, at(now), true);
      expect(await story.lease(webhookId, now + 29_999)).toEqual([]);
      expect((await story.leaseOne(webhookId, now + 30_000)).event.code).toBe('OP-1');
    },
  },
  {
    name: 'where no clock was set back, nothing is planned anew',
    check: async (story, webhookId) => {
      await story.enqueue(webhookId, [story.event('OP-1')]);
      await story.record(await story.leaseOne(webhookId), retry(HOUR_MS));
      const own = async () =>
        (await story.adapter.queue.schedules(at(1))).filter((schedule) => schedule.webhookId === webhookId);
      const before = await own();
      await story.adapter.queue.planAnew({ gaps: GAPS, leaseMs: LEASE_MS }, at(1), false);
      expect(before).toHaveLength(1);
      expect(await own()).toEqual(before);
    },
  },
  {
    name: 'a leased lane is nobody else’s until the lease ends; then the same attempt is made again',
    check: async (story, webhookId) => {
      await story.enqueue(webhookId, [story.event('OP-1')]);
      const lost = await story.leaseOne(webhookId);
      expect(await story.lease(webhookId, LEASE_MS - 1)).toEqual([]);
      const taken = await story.leaseOne(webhookId, LEASE_MS);
      expect(taken.event).toEqual(lost.event);
      expect([taken.attempt, taken.scheduledAttempts]).toEqual([1, 0]);
      expect(taken.lease.token).not.toBe(lost.lease.token);
    },
  },
  {
    name: 'a result that comes after its lease was taken over is refused, and nothing of it is stored',
    check: async (story, webhookId) => {
      const event = story.event('OP-1');
      await story.enqueue(webhookId, [event]);
      const lost = await story.leaseOne(webhookId);
      const taken = await story.leaseOne(webhookId, LEASE_MS);
      for (const verdict of [DELIVERED, retry(60_000), FAILED]) {
        expect(await story.record(lost, verdict, LEASE_MS + 1, true)).toEqual({ kind: 'lease_lost' });
      }
      expect(await story.recordOf(webhookId, event)).toMatchObject({
        status: 'pending',
        attempts: 0,
        attemptLog: [],
      });
      expect(await story.record(taken, DELIVERED, LEASE_MS + 2)).toEqual({ kind: 'released' });
      expect(await story.record(taken, DELIVERED, LEASE_MS + 3)).toEqual({ kind: 'lease_lost' });
    },
  },
  {
    name: 'a refused result does not take the others of its call with it',
    check: async (story, webhookId) => {
      const [one, two, three] = ['OP-1', 'OP-2', 'OP-3'].map((code) => story.event(code));
      await story.enqueue(webhookId, [one!, two!, three!]);
      const claimed = await story.lease(webhookId);
      const byCode = (code: string) => claimed.find(({ event }) => event.code === code)!;
      await story.adapter.queue.release([byCode('OP-2').lease], at(1));
      const results = ['OP-1', 'OP-2', 'OP-3'].map((code) => story.result(byCode(code), DELIVERED, 5));
      const recorded = await story.adapter.queue.record(results, at(5), at(5 + LEASE_MS));
      expect(recorded.map(({ kind }) => kind)).toEqual(['released', 'lease_lost', 'released']);
      expect((await story.records(webhookId)).map(({ code, status }) => [code, status]).toSorted()).toEqual([
        ['OP-1', 'delivered'],
        ['OP-2', 'pending'],
        ['OP-3', 'delivered'],
      ]);
    },
  },
  {
    name: 'going on in a lane renews its lease when it runs low',
    check: async (story, webhookId) => {
      await story.enqueue(webhookId, story.events('OP-1', 2));
      const next = await story.deliver(await story.leaseOne(webhookId), LEASE_MS - 100);
      expect(next!.lease.until).toBe(at(2 * LEASE_MS - 100));
      expect(await story.lease(webhookId, LEASE_MS + 100)).toEqual([]);
      expect(await story.record(next!, DELIVERED, LEASE_MS + 100)).toEqual({ kind: 'released' });
    },
  },
  {
    name: 'a lane given back can be claimed at once; one that is somebody else’s by now stays theirs',
    check: async (story, webhookId) => {
      await story.enqueue(webhookId, [story.event('OP-1')]);
      const first = await story.leaseOne(webhookId);
      await story.adapter.queue.release([first.lease], at(10));
      const second = await story.leaseOne(webhookId, 10);
      await story.adapter.queue.release([first.lease], at(20));
      expect(await story.lease(webhookId, 20)).toEqual([]);
      expect(second.attempt).toBe(1);
    },
  },
  {
    name: 'a lane let go of after a result is due when its next delivery is',
    check: async (story, webhookId) => {
      const [first, second] = story.events('OP-1', 2);
      await story.enqueue(webhookId, [first!, second!]);
      expect(await story.record(await story.leaseOne(webhookId), DELIVERED, 10, false)).toEqual({
        kind: 'released',
      });
      expect((await story.leaseOne(webhookId, 10)).event.eventId).toBe(second!.eventId);
    },
  },
  {
    name: 'of many that claim at once, each lane goes to one',
    check: async (story, webhookId) => {
      const codes = Array.from({ length: 40 }, (_, index) => `OP-${index}`);
      await story.enqueue(
        webhookId,
        codes.map((code) => story.event(code)),
      );
      const claims = await Promise.all(
        Array.from({ length: 20 }, () => story.lease(webhookId, 0, { firstAttempts: 3, retries: 0 })),
      );
      const lanes = claims.flat().map(({ lease }) => lease.lane);
      expect(lanes.toSorted()).toEqual(codes.toSorted());
    },
  },
  {
    name: 'while paused nothing is claimed and everything is queued; resumed, it goes out in order',
    check: async (story, webhookId) => {
      const events = story.events('OP-1', 3);
      const turn = (status: 'active' | 'paused') =>
        story.adapter.subscriptions.update(story.applicationId, webhookId, { status }, at(1));
      await story.enqueue(webhookId, events.slice(0, 2));
      const underWay = await story.leaseOne(webhookId);
      await turn('paused');
      expect(await story.deliver(underWay)).toBeUndefined();
      expect(await story.enqueue(webhookId, events.slice(2))).toBe(1);
      const request = { webhookId, firstAttempts: 10, retries: 10 };
      expect(await story.adapter.queue.lease([request], at(5_000), at(5_000 + LEASE_MS))).toEqual({
        deliveries: [],
        schedules: [{ webhookId, firstAttemptAt: null, retryAt: null }],
      });
      expect((await story.adapter.queue.schedules(at(5_000))).map((one) => one.webhookId)).not.toContain(
        webhookId,
      );
      await turn('active');
      const second = await story.leaseOne(webhookId, 5_000);
      expect(idsOf([second, await story.deliver(second, 5_000)])).toEqual([
        events[1]!.eventId,
        events[2]!.eventId,
      ]);
    },
  },
  {
    name: 'what was leased is current until its subscription has another address or secret, is paused or removed',
    check: async (story, webhookId) => {
      const { subscriptions, queue } = story.adapter;
      const endpoint = async () => {
        await story.enqueue(webhookId, [story.event('OP-1')]);
        const [delivery] = await story.lease(webhookId);
        await queue.release([delivery!.lease], at(0));
        return delivery!.endpoint;
      };
      for (const change of [
        { sealedSecret: 'another' },
        { url: 'https://other.example/' },
        { status: 'paused' as const },
      ]) {
        const leased = await endpoint();
        expect(await queue.isCurrent(leased)).toBe(true);
        await subscriptions.update(story.applicationId, webhookId, change, at(1));
        expect(await queue.isCurrent(leased)).toBe(false);
      }
      await subscriptions.update(story.applicationId, webhookId, { status: 'active' }, at(1));
      const leased = await endpoint();
      await subscriptions.remove(story.applicationId, webhookId, at(2));
      expect(await queue.isCurrent(leased)).toBe(false);
    },
  },
  {
    name: 'nothing is claimed for a removed subscription',
    check: async (story, webhookId) => {
      await story.enqueue(webhookId, story.events('OP-1', 2));
      const underWay = await story.leaseOne(webhookId);
      expect(await story.adapter.subscriptions.remove(story.applicationId, webhookId, at(1))).toBe(true);
      expect(await story.record(underWay, DELIVERED, 2, true)).toEqual({ kind: 'released' });
      expect(await story.lease(webhookId, LEASE_MS * 2)).toEqual([]);
    },
  },
  {
    name: 'every claim and every next delivery sees the address and the secret of that moment',
    check: async (story, webhookId) => {
      await story.enqueue(webhookId, story.events('OP-1', 3));
      const change = (sealedSecret: string) =>
        story.adapter.subscriptions.update(
          story.applicationId,
          webhookId,
          { sealedSecret, url: `https://${sealedSecret}.example/` },
          at(1),
        );
      const first = await story.leaseOne(webhookId);
      await change('second');
      const second = await story.deliver(first);
      expect(second!.endpoint).toMatchObject({ sealedSecret: 'second', url: 'https://second.example/' });
      await story.adapter.queue.release([second!.lease], at(2));
      await change('third');
      expect((await story.leaseOne(webhookId, 2)).endpoint).toMatchObject({ sealedSecret: 'third' });
    },
  },
];
