import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ENDPOINT_CHOICES } from '../../application/webhooks/webhook-desk.ts';
import type { EndpointChoice, WebhookDesk } from '../../application/webhooks/webhook-desk.ts';
import { DELIVERED, FAILED, Story, at, retry } from './delivery-queue-samples.ts';
import type { QueueUnderTest } from './delivery-queue-samples.ts';

interface WebhookDeskFixture {
  readonly desk: WebhookDesk;
  /** An empty store behind it. */
  readonly adapter: QueueUnderTest;
  close(): Promise<void>;
}

export const describeWebhookDeskContract = (
  adapter: string,
  open: () => Promise<WebhookDeskFixture>,
): void => {
  describe(`${adapter} keeps the promises of the webhook desk`, () => {
    let fixture: WebhookDeskFixture;
    let stories: readonly Story[];
    const ids: string[] = [];

    beforeAll(async () => {
      fixture = await open();
      stories = [new Story(fixture.adapter), new Story(fixture.adapter)];
      for (const story of stories) for (let i = 0; i < 4; i += 1) ids.push(await story.subscribe());
    });
    afterAll(() => fixture.close());

    /** Every endpoint, by pages of three. */
    const listed = async (choice: EndpointChoice, failedFrom = at(3_600_000)): Promise<readonly string[]> => {
      const all: string[] = [];
      for (let cursor: string | null | undefined; cursor !== null;) {
        const page = await fixture.desk.endpoints({
          choice,
          failedFrom,
          limit: 3,
          ...(cursor && { cursor }),
        });
        all.push(...page.endpoints.map(({ webhookId }) => webhookId));
        cursor = page.nextCursor;
      }
      return all;
    };

    test('endpoints of all applications are there once, those that fail first', async () => {
      const [failing, paused, removed] = [ids[6]!, ids[2]!, ids[3]!];
      const [first, second] = stories as [Story, Story];
      await second.enqueue(failing, [second.event('OP-F')]);
      await second.record(await second.leaseOne(failing), retry(60_000), 10);
      const { subscriptions } = fixture.adapter;
      await subscriptions.update(first.applicationId, paused, { status: 'paused' }, at(5));
      await subscriptions.remove(first.applicationId, removed, at(6));
      const all = await listed('all');
      expect(all[0]).toBe(failing);
      expect(all.toSorted()).toEqual(ids.filter((id) => id !== removed).toSorted());
      expect(await listed('failing')).toEqual([failing]);
      expect(await listed('paused')).toEqual([paused]);
      // Succeeded again a moment later: its failure counts for as long as is asked for.
      await second.record(await second.leaseOne(failing, 60_000), DELIVERED, 60_000);
      expect(await listed('failing')).toEqual([]);
      expect(await listed('failing', at(5))).toEqual([failing]);
      expect(await listed('all', at(5))).toHaveLength(ids.length - 1);
    });

    test('a record tells the attempts of the newest deliveries, newest first, and what waits or failed', async () => {
      const [id, story] = [ids[0]!, stories[0]!];
      for (const [n, verdict] of [DELIVERED, FAILED, retry(9_000_000), DELIVERED].entries()) {
        await story.enqueue(id, [story.event(`OP-${n}`)], n * 1_000);
        await story.record(await story.leaseOne(id, n * 1_000), verdict, n * 1_000);
      }
      const [record, other] = await fixture.desk.records([id, ids[1]!], 3);
      expect(record).toEqual({
        outcomes: [
          { at: at(3_000), durationMs: 12, responseStatus: 200, succeeded: true },
          { at: at(2_000), durationMs: 12, responseStatus: 503, succeeded: false },
          { at: at(1_000), durationMs: 12, responseStatus: 503, succeeded: false },
        ],
        waiting: 1,
        failed: 1,
      });
      expect(other).toEqual({ outcomes: [], waiting: 0, failed: 0 });
      expect(await fixture.desk.records([], 3)).toEqual([]);
    });

    test('of some endpoints, and of events of some funds, it tells nothing of others', async () => {
      const [id, story] = [ids[1]!, stories[0]!];
      const wanted = [id, ids[6]!].toSorted();
      const { endpoints, nextCursor } = await fixture.desk.endpoints({
        ...{ choice: 'all', failedFrom: at(0), limit: 3 },
        only: wanted,
      });
      expect([endpoints.map(({ webhookId }) => webhookId).toSorted(), nextCursor]).toEqual([wanted, null]);
      for (const [n, fundId] of ['fund-1', 'fund-2'].entries()) {
        await story.enqueue(id, [story.event(`OF-${n}`, { fundId })], n * 1_000);
        await story.record(await story.leaseOne(id, n * 1_000), DELIVERED, n * 1_000);
      }
      for (const fundId of ['fund-1', 'fund-2'])
        await story.enqueue(id, [story.event(`WAITS-${fundId}`, { fundId })], 2_000);
      const [of] = await fixture.desk.records([id], 100, ['fund-2']);
      expect([of!.outcomes.map((one) => one.at), of!.waiting]).toEqual([[at(1_000)], 1]);
      expect((await fixture.desk.records([id], 100))[0]).toMatchObject({ waiting: 2, failed: 0 });
    });

    test.each(ENDPOINT_CHOICES)('a cursor that it did not make is refused: %s', async (choice) => {
      const asked = fixture.desk.endpoints({ choice, failedFrom: at(0), limit: 3, cursor: 'x' });
      await expect(asked).rejects.toMatchObject({ code: 'invalid_query_parameter' });
    });
  });
};
