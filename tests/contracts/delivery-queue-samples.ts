import { randomUUID } from 'node:crypto';
import type { SqlDatabase } from '../../application/sql/sql-database.ts';
import { DeliveryLag } from '../../application/webhooks/queue/floors.ts';
import { DeliveryLog } from '../../application/webhooks/delivery-log.ts';
import type { DeliveryRecord } from '../../application/webhooks/delivery-log.ts';
import { DeliveryQueue } from '../../application/webhooks/queue/delivery-queue.ts';
import type { AttemptResult, AttemptVerdict } from '../../application/webhooks/queue/result-statements.ts';
import type { LeasedDelivery } from '../../application/webhooks/queue/lease-lanes.ts';
import type { WebhookEvent } from '../../application/webhooks/queue/enqueue.ts';
import { WebhookSubscriptions } from '../../application/webhooks/subscriptions.ts';

export interface QueueUnderTest {
  readonly queue: DeliveryQueue;
  readonly log: DeliveryLog;
  readonly lag: DeliveryLag;
  readonly subscriptions: WebhookSubscriptions;
}

export const queueOn = (database: SqlDatabase): QueueUnderTest => ({
  queue: new DeliveryQueue(database),
  log: new DeliveryLog(database),
  lag: new DeliveryLag(database),
  subscriptions: new WebhookSubscriptions(database),
});

const START = Date.parse('2026-01-15T12:00:00.000Z');
export const LEASE_MS = 15_000;

/** The instant so many milliseconds after the start of the story. */
export const at = (ms: number): string => new Date(START + ms).toISOString();

export const DELIVERED: AttemptVerdict = { kind: 'delivered' };
export const FAILED: AttemptVerdict = { kind: 'failed' };
export const retry = (ms: number): AttemptVerdict => ({ kind: 'retry', at: at(ms) });

/** One application with subscriptions and operations, and the words to tell what happens to them. */
export class Story {
  readonly applicationId = randomUUID();
  readonly adapter: QueueUnderTest;
  readonly #sequences = new Map<string, number>();

  constructor(adapter: QueueUnderTest) {
    this.adapter = adapter;
  }

  async subscribe(overrides: { readonly url?: string; readonly ping?: WebhookEvent } = {}): Promise<string> {
    const webhookId = randomUUID();
    const added = await this.adapter.subscriptions.add(
      {
        webhookId,
        applicationId: this.applicationId,
        url: 'https://receiver.example/hooks',
        events: ['*'],
        fundIds: null,
        description: null,
        sealedSecret: `sealed for ${webhookId}`,
        createdAt: at(0),
        ...overrides,
      },
      20,
    );
    if (!added) throw new Error('not added');
    return webhookId;
  }

  /** The next event of an operation. */
  event(code: string, overrides: Partial<WebhookEvent> = {}): WebhookEvent {
    const sequence = (this.#sequences.get(code) ?? -1) + 1;
    this.#sequences.set(code, sequence);
    const eventId = randomUUID();
    return {
      eventId,
      name: 'installment_settled',
      applicationId: this.applicationId,
      fundId: 'fund-1',
      code,
      sequence,
      timestamp: at(0),
      body: `{"event_id":"${eventId}","amount":950.00,"text":"ação ✓"}`,
      ...overrides,
    };
  }

  events(code: string, count: number): WebhookEvent[] {
    return Array.from({ length: count }, () => this.event(code));
  }

  enqueue(webhookId: string, events: readonly WebhookEvent[], ms = 0): Promise<number> {
    return this.adapter.queue.enqueue(
      events.map((event) => ({ webhookId, event })),
      at(ms),
    );
  }

  /** Claims up to ten lanes of each kind. */
  async lease(
    webhookId: string,
    ms = 0,
    limits = { firstAttempts: 10, retries: 10 },
  ): Promise<readonly LeasedDelivery[]> {
    const { deliveries } = await this.adapter.queue.lease(
      [{ webhookId, ...limits }],
      at(ms),
      at(ms + LEASE_MS),
    );
    return deliveries;
  }

  async leaseOne(webhookId: string, ms = 0): Promise<LeasedDelivery> {
    const deliveries = await this.lease(webhookId, ms);
    if (deliveries.length !== 1) throw new Error(`expected one delivery, got ${deliveries.length}`);
    return deliveries[0]!;
  }

  result(delivery: LeasedDelivery, verdict: AttemptVerdict, ms = 0, keepLane = false): AttemptResult {
    const delivered = verdict.kind === 'delivered';
    const record = {
      attempt: delivery.attempt,
      at: at(ms),
      durationMs: 12,
      responseStatus: delivered ? 200 : 503,
      error: delivered ? null : 'http status 503',
      responseBody: delivered ? null : '{"answer":"não"}',
    };
    return { delivery, record, verdict, keepLane, noteHealth: true };
  }

  async record(delivery: LeasedDelivery, verdict: AttemptVerdict, ms = 0, keepLane = false) {
    const results = [this.result(delivery, verdict, ms, keepLane)];
    const [recorded] = await this.adapter.queue.record(results, at(ms), at(ms + LEASE_MS));
    return recorded!;
  }

  /** Records it as delivered and goes on with the lane; answers what comes next there. */
  async deliver(delivery: LeasedDelivery, ms = 0): Promise<LeasedDelivery | undefined> {
    const recorded = await this.record(delivery, DELIVERED, ms, true);
    if (recorded.kind === 'lease_lost') throw new Error('lease lost');
    return recorded.kind === 'next' ? recorded.delivery : undefined;
  }

  /** Newest first. */
  async records(webhookId: string): Promise<readonly DeliveryRecord[]> {
    return (await this.adapter.log.list({ webhookId, limit: 200 })).deliveries;
  }

  async recordOf(webhookId: string, { eventId }: WebhookEvent): Promise<DeliveryRecord> {
    const found = (await this.records(webhookId)).find((record) => record.eventId === eventId);
    if (!found) throw new Error(`no delivery of ${eventId}`);
    return found;
  }
}

export const idsOf = (deliveries: readonly (LeasedDelivery | undefined)[]): readonly (string | undefined)[] =>
  deliveries.map((delivery) => delivery?.event.eventId);

/** A promise of the queue, told of an application with a subscription. It holds beside those of others. */
export interface StoryCase {
  readonly name: string;
  readonly check: (story: Story, webhookId: string) => Promise<void>;
}
