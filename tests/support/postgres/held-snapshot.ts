import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import type { DeliveryQueue } from '../../../application/webhooks/queue/delivery-queue.ts';
import type { WebhookEvent } from '../../../application/webhooks/queue/enqueue.ts';

/** A transaction that is left open: until it ends, the server keeps every row version that it could still see. */
export const holdSnapshot = async (url: string): Promise<{ release(): Promise<void> }> => {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query('begin isolation level repeatable read');
  await client.query('select count(*) from webhook_lane');
  return {
    release: async () => {
      await client.query('rollback');
      await client.end();
    },
  };
};

const eventOf = (code: string): WebhookEvent => {
  const eventId = randomUUID();
  const about = { name: 'installment_settled', applicationId: 'app', fundId: 'fund', sequence: 0 };
  return {
    eventId,
    code,
    ...about,
    timestamp: '2026-01-15T12:00:00.000Z',
    body: `{"event_id":"${eventId}"}`,
  };
};

interface Work {
  readonly lanes: number;
  /** Milliseconds since 1970; each call is a little later than the one before. */
  readonly now: () => number;
  /** Of one claim. */
  readonly onClaim?: (ms: number) => void;
}

const LEASE_MS = 15_000;
const LANES_A_CLAIM = 64;
const TOGETHER = 512;

/** Queues one delivery in each of so many new lanes, and works them through as a dispatcher does. */
export const workThrough = async (
  queue: DeliveryQueue,
  webhookId: string,
  { lanes, now, onClaim }: Work,
): Promise<void> => {
  const iso = (ms: number): string => new Date(ms).toISOString();
  for (let done = 0; done < lanes; done += TOGETHER) {
    const count = Math.min(TOGETHER, lanes - done);
    const planned = Array.from({ length: count }, () => ({
      webhookId,
      event: eventOf(`OP-${randomUUID()}`),
    }));
    await queue.enqueue(planned, iso(now()));
    for (let left = count; left > 0;) {
      const at = now();
      const begun = performance.now();
      const request = { webhookId, firstAttempts: LANES_A_CLAIM, retries: 0 };
      const { deliveries } = await queue.lease([request], iso(at), iso(at + LEASE_MS));
      onClaim?.(performance.now() - begun);
      if (deliveries.length === 0) throw new Error(`${left} of ${count} lanes are not found`);
      left -= deliveries.length;
      const record = { durationMs: 1, responseStatus: 200, error: null, responseBody: null };
      const results = deliveries.map((delivery) => ({
        delivery,
        record: { attempt: 1, at: iso(at), ...record },
        verdict: { kind: 'delivered' } as const,
        keepLane: false,
        noteHealth: false,
      }));
      await queue.record(results, iso(now()), iso(now() + LEASE_MS));
    }
  }
};
