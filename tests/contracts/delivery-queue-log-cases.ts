import { expect } from '@jest/globals';
import type { AttemptVerdict } from '../../application/webhooks/queue/result-statements.ts';
import { DELIVERED, FAILED, LEASE_MS, at, retry } from './delivery-queue-samples.ts';
import type { StoryCase } from './delivery-queue-samples.ts';

const LONG_AGO = -900_000_000_000;

export const logCases: readonly StoryCase[] = [
  {
    name: 'a delivery shows its attempts with time, duration, status and error',
    check: async (story, webhookId) => {
      const event = story.event('OP-1');
      await story.enqueue(webhookId, [event]);
      const first = await story.leaseOne(webhookId);
      await story.record(first, retry(1_000), 10);
      await story.record(await story.leaseOne(webhookId, 1_000), DELIVERED, 1_020);
      expect(await story.records(webhookId)).toEqual([
        {
          deliveryId: first.deliveryId,
          eventId: event.eventId,
          event: 'installment_settled',
          code: 'OP-1',
          fundId: 'fund-1',
          status: 'delivered',
          attempts: 2,
          createdAt: at(0),
          lastAttemptAt: at(1_020),
          nextAttemptAt: null,
          deliveredAt: at(1_020),
          lastResponseStatus: 200,
          lastError: null,
          attemptLog: [
            { attempt: 1, at: at(10), durationMs: 12, responseStatus: 503, error: 'http status 503' },
            { attempt: 2, at: at(1_020), durationMs: 12, responseStatus: 200, error: null },
          ],
        },
      ]);
    },
  },
  {
    name: 'a list for some funds shows no delivery of another, and no ping',
    check: async (story) => {
      const webhookId = await story.subscribe({ ping: story.event('P', { fundId: null, code: null }) });
      for (const fundId of ['fund-1', 'fund-2', 'fund-3', 'fund-1']) {
        await story.enqueue(webhookId, [story.event(`${fundId} code`, { fundId })]);
      }
      const fundsOf = async (onlyFundIds: readonly string[], limit: number): Promise<readonly unknown[]> => {
        const found: unknown[] = [];
        for (let cursor: string | null | undefined; cursor !== null;) {
          const page = await story.adapter.log.list({
            webhookId,
            limit,
            onlyFundIds,
            ...(cursor && { cursor }),
          });
          found.push(...page.deliveries.map(({ fundId }) => fundId));
          cursor = page.nextCursor;
        }
        return found.sort();
      };
      expect(await fundsOf(['fund-1', 'fund-3'], 2)).toEqual(['fund-1', 'fund-1', 'fund-3']);
      expect(await fundsOf(['fund-4'], 2)).toEqual([]);
      expect(await story.records(webhookId)).toHaveLength(5);
    },
  },
  {
    name: 'the list is newest first, filtered by state and age, and its pages join without gap or overlap',
    check: async (story, webhookId) => {
      for (let index = 0; index < 25; index++) {
        await story.enqueue(webhookId, [story.event(`OP-${index}`)], index * 1_000);
        const delivery = await story.leaseOne(webhookId, index * 1_000);
        const verdict = [DELIVERED, FAILED, retry(9_000_000)][index % 3]!;
        await story.record(delivery, verdict, index * 1_000);
      }
      const all: string[] = [];
      let cursor: string | null = null;
      do {
        const page = await story.adapter.log.list({
          webhookId,
          limit: 7,
          ...(cursor !== null && { cursor }),
        });
        expect(page.deliveries.length).toBe(cursor === null || page.nextCursor !== null ? 7 : 4);
        all.push(...page.deliveries.map(({ code }) => code!));
        cursor = page.nextCursor;
      } while (cursor !== null);
      expect(all).toEqual(Array.from({ length: 25 }, (_, index) => `OP-${24 - index}`));
      const failed = await story.adapter.log.list({
        webhookId,
        status: 'failed',
        since: at(10_000),
        limit: 50,
      });
      expect(failed.deliveries.map(({ code }) => code)).toEqual([
        'OP-22',
        'OP-19',
        'OP-16',
        'OP-13',
        'OP-10',
      ]);
      expect(failed.nextCursor).toBeNull();
      const few = await story.adapter.log.list({ webhookId, status: 'retrying', limit: 2 });
      expect(few.deliveries.map(({ code }) => code)).toEqual(['OP-23', 'OP-20']);
      const none = await story.adapter.log.list({ webhookId, status: 'pending', limit: 2 });
      expect(none).toEqual({ deliveries: [], nextCursor: null });
    },
  },
  {
    name: 'a list of what was created since then has all of it, also behind what a clock that was set back made later',
    check: async (story, webhookId) => {
      const [hour, since] = [3_600_000, at(1_000_000)];
      for (const code of ['OP-1', 'OP-2', 'OP-3']) await story.enqueue(webhookId, [story.event(code)], hour);
      for (let index = 0; index < 8; index++)
        await story.enqueue(webhookId, [story.event(`OLD-${index}`)], 0);
      const found: (string | null)[] = [];
      for (let cursor: string | null | undefined; cursor !== null;) {
        const page = await story.adapter.log.list({ webhookId, since, limit: 2, ...(cursor && { cursor }) });
        found.push(...page.deliveries.map(({ code }) => code));
        cursor = page.nextCursor;
      }
      expect(found).toEqual(['OP-3', 'OP-2', 'OP-1']);
    },
  },
  {
    name: 'a cursor that it did not make is refused',
    check: async (story, webhookId) => {
      const listing = story.adapter.log.list({ webhookId, limit: 5, cursor: "x' or 1=1" });
      await expect(listing).rejects.toMatchObject({
        code: 'invalid_query_parameter',
        details: [{ field: 'cursor' }],
      });
    },
  },
  {
    name: 'the subscription shows its last success, its last failure, and since when it fails',
    check: async (story, webhookId) => {
      const health = async () => {
        const found = await story.adapter.subscriptions.find(story, webhookId);
        return [found!.lastSuccessAt, found!.lastFailureAt, found!.failingSince];
      };
      await story.enqueue(webhookId, story.events('OP-1', 2));
      expect(await health()).toEqual([null, null, null]);
      await story.record(await story.leaseOne(webhookId), retry(20), 10);
      await story.record(await story.leaseOne(webhookId, 20), retry(30), 20);
      expect(await health()).toEqual([null, at(20), at(10)]);
      await story.record(await story.leaseOne(webhookId, 30), DELIVERED, 30);
      expect(await health()).toEqual([at(30), at(20), null]);
    },
  },
  {
    name: 'of results that are stored together the last one says whether the subscription fails',
    check: async (story, webhookId) => {
      const failingSince = async () =>
        (await story.adapter.subscriptions.find(story, webhookId))!.failingSince;
      for (const code of ['OP-a', 'OP-b']) await story.enqueue(webhookId, story.events(code, 2));
      const together = async (first: string, ms: number, verdicts: readonly AttemptVerdict[]) => {
        const leased = (await story.lease(webhookId, ms)).toSorted((one) =>
          one.event.code === first ? -1 : 1,
        );
        const results = leased.map((one, index) => story.result(one, verdicts[index]!, ms + index));
        await story.adapter.queue.record(results, at(ms + 2), at(ms + LEASE_MS));
      };
      await together('OP-b', 10, [FAILED, DELIVERED]);
      expect(await failingSince()).toBeNull();
      await together('OP-b', 20, [DELIVERED, FAILED]);
      expect(await failingSince()).toBe(at(21));
    },
  },
  {
    name: 'the lag names the oldest delivery that still waits',
    check: async (story) => {
      const [waiting, idle] = [await story.subscribe(), await story.subscribe()];
      await story.enqueue(waiting, [story.event('OP-1')], 0);
      await story.enqueue(waiting, [story.event('OP-2')], 100);
      await story.enqueue(waiting, [story.event('OP-3')], 200);
      const claimed = await story.lease(waiting, 200);
      for (const delivery of claimed) {
        if (delivery.event.code === 'OP-1') await story.record(delivery, DELIVERED, 200);
        if (delivery.event.code === 'OP-2') await story.record(delivery, retry(60_000), 200);
      }
      const lag = new Map(
        (await story.adapter.lag.read()).map((one) => [one.webhookId, one.oldestCreatedAt]),
      );
      expect([lag.get(waiting), lag.get(idle)]).toEqual([at(100), undefined]);
    },
  },
  {
    name: 'what is old is removed in small steps, what waits is kept, and an event goes with its last delivery',
    check: async (story) => {
      const [one, other] = [await story.subscribe(), await story.subscribe()];
      const events = ['OP-1', 'OP-2', 'OP-3', 'OP-4', 'OP-5'].map((code) => story.event(code));
      await story.enqueue(one, events, LONG_AGO);
      await story.enqueue(other, events.slice(0, 1), LONG_AGO);
      for (const delivery of await story.lease(one, LONG_AGO)) {
        const { code } = delivery.event;
        if (code === 'OP-5') await story.adapter.queue.release([delivery.lease], at(LONG_AGO));
        else await story.record(delivery, code === 'OP-4' ? FAILED : DELIVERED, LONG_AGO);
      }
      const retention = {
        deliveredBefore: at(LONG_AGO + 1),
        failedBefore: at(LONG_AGO),
        removedBefore: at(LONG_AGO),
        limit: 2,
      };
      expect(await story.adapter.queue.cleanUp(retention)).toBe(2);
      while ((await story.adapter.queue.cleanUp(retention)) > 0);
      expect((await story.records(one)).map(({ code }) => code).toSorted()).toEqual(['OP-4', 'OP-5']);
      const known = async (index: number) =>
        (await story.adapter.queue.findEvent(story.applicationId, events[index]!.eventId))?.webhookIds;
      expect([await known(0), await known(1), await known(3)]).toEqual([[other], undefined, [one]]);
      while ((await story.adapter.queue.cleanUp({ ...retention, failedBefore: at(LONG_AGO + 1) })) > 0);
      expect((await story.records(one)).map(({ code }) => code)).toEqual(['OP-5']);
      expect((await story.leaseOne(one, LONG_AGO)).event.code).toBe('OP-5');
    },
  },
  {
    name: 'a removed subscription leaves nothing behind',
    check: async (story) => {
      const [removed, kept] = [await story.subscribe(), await story.subscribe()];
      const shared = story.event('OP-1');
      const alone = story.event('OP-2');
      await story.enqueue(removed, [shared, alone, ...story.events('OP-3', 5)]);
      await story.enqueue(kept, [shared]);
      await story.adapter.subscriptions.remove(story.applicationId, removed, at(0));
      const retention = {
        deliveredBefore: at(LONG_AGO),
        failedBefore: at(LONG_AGO),
        removedBefore: at(1),
        limit: 2,
      };
      while ((await story.adapter.queue.cleanUp(retention)) > 0);
      expect(await story.records(removed)).toEqual([]);
      const find = (eventId: string) => story.adapter.queue.findEvent(story.applicationId, eventId);
      expect(await find(alone.eventId)).toBeUndefined();
      expect((await find(shared.eventId))?.webhookIds).toEqual([kept]);
      expect((await story.leaseOne(kept)).event).toEqual(shared);
    },
  },
  {
    name: 'a subscription’s ping is queued with it, in a lane of its own',
    check: async (story) => {
      const ping = { ...story.event('x'), name: 'webhook.ping', code: null, fundId: null };
      const webhookId = await story.subscribe({ ping });
      await story.enqueue(webhookId, [story.event('OP-1')]);
      const claimed = await story.lease(webhookId);
      expect(new Set(claimed.map(({ event }) => event.name))).toEqual(
        new Set(['webhook.ping', 'installment_settled']),
      );
      expect(await story.recordOf(webhookId, ping)).toMatchObject({
        code: null,
        fundId: null,
        event: 'webhook.ping',
      });
    },
  },
];
