import { randomUUID } from 'node:crypto';
import type { SqlDatabase } from '../../application/sql/sql-database.ts';
import type { WebhookEvent } from '../../application/webhooks/queue/enqueue.ts';
import type { LeasedDelivery } from '../../application/webhooks/queue/lease-lanes.ts';
import type {
  RangeRedeliveries,
  RangeRedelivery,
} from '../../application/webhooks/queue/range-redeliveries.ts';
import { FAILED, LEASE_MS, Story, at } from './delivery-queue-samples.ts';
import type { QueueUnderTest } from './delivery-queue-samples.ts';

export interface RangesFixture extends QueueUnderTest {
  readonly ranges: RangeRedeliveries;
  readonly database: SqlDatabase;
}

const DAY_MS = 86_400_000;

/** The story of redeliveries of a span of time. */
export class RangeStory extends Story {
  readonly #fixture: RangesFixture;

  constructor(fixture: RangesFixture) {
    super(fixture);
    this.#fixture = fixture;
  }

  get ranges(): RangeRedeliveries {
    return this.#fixture.ranges;
  }

  /** Deliveries that are over, after one attempt. */
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
      .set({ status, waiting_lane: null, next_attempt_at: null, finished_at: at(ms), attempts: 1 })
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

export type RangeCase = readonly [name: string, check: (story: RangeStory) => Promise<void>];
