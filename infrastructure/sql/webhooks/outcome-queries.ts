import { sql } from 'kysely';
import type { Expression, ExpressionBuilder, Kysely } from 'kysely';
import type { Schema } from '../schema.ts';
import { prepared } from './prepared-query.ts';
import type { WebhookAttemptTable } from './schema.ts';

export interface Ended {
  webhook_id: string;
  delivery_id: string;
  attempt: number;
  /** Attempts of the schedule used up now; null to leave the count. */
  scheduled: number | null;
  started_at: string;
  status: number | null;
  error: string | null;
  now: string;
}

type Delivery = ExpressionBuilder<Schema, 'webhook_delivery'>;

/** A number given out to a redelivery meanwhile stays the highest. */
const highest = (eb: Delivery, attempt: number) =>
  eb.case().when('attempts', '<', attempt).then(attempt).else(eb.ref('attempts')).end();

/** What a redelivery has delivered meanwhile waits no more, and stays as it is. */
const whileItWaits = <Value>(eb: Delivery, current: Expression<Value>, then: Expression<Value>) =>
  eb.case().when('waiting_lane', 'is', null).then(current).else(then).end();

const noted = (eb: Delivery, p: Ended) => ({
  attempts: highest(eb, p.attempt),
  scheduled_attempts: eb.fn.coalesce(eb.val(p.scheduled), 'scheduled_attempts'),
  last_attempt_at: p.started_at,
  last_response_status: p.status,
  last_error: p.error,
});

export const delivered = (builder: Kysely<Schema>) =>
  prepared((p: Ended) =>
    builder
      .updateTable('webhook_delivery')
      .set((eb) => ({
        ...noted(eb, p),
        status: sql.lit('delivered' as const),
        delivered_at: eb.fn.coalesce('delivered_at', eb.val(p.now)),
        finished_at: p.now,
        next_attempt_at: sql.lit(null),
        waiting_lane: sql.lit(null),
      }))
      .where('webhook_id', '=', p.webhook_id)
      .where('delivery_id', '=', p.delivery_id),
  );

export const retried = (builder: Kysely<Schema>) =>
  prepared((p: Ended & { retry_at: string }) =>
    builder
      .updateTable('webhook_delivery')
      .set((eb) => ({
        ...noted(eb, p),
        status: whileItWaits(eb, eb.ref('status'), sql.lit('retrying' as const)),
        next_attempt_at: whileItWaits(eb, eb.ref('next_attempt_at'), eb.val(p.retry_at)),
      }))
      .where('webhook_id', '=', p.webhook_id)
      .where('delivery_id', '=', p.delivery_id),
  );

export const exhausted = (builder: Kysely<Schema>) =>
  prepared((p: Ended) =>
    builder
      .updateTable('webhook_delivery')
      .set((eb) => ({
        ...noted(eb, p),
        status: whileItWaits(eb, eb.ref('status'), sql.lit('failed' as const)),
        finished_at: whileItWaits(eb, eb.ref('finished_at'), eb.val(p.now)),
        next_attempt_at: sql.lit(null),
        waiting_lane: sql.lit(null),
      }))
      .where('webhook_id', '=', p.webhook_id)
      .where('delivery_id', '=', p.delivery_id),
  );

/** Leaves the delivery as it was, except one that had no other attempt before it, or never will have one after it. */
export const redeliveryFailed = (builder: Kysely<Schema>) =>
  prepared((p: Ended) =>
    builder
      .updateTable('webhook_delivery')
      .set((eb) => ({
        ...noted(eb, p),
        status: eb
          .case()
          .when('status', '<>', sql.lit('pending' as const))
          .then(eb.ref('status'))
          .when('waiting_lane', 'is', null)
          .then(sql.lit('failed' as const))
          .else(sql.lit('retrying' as const))
          .end(),
        finished_at: eb.case().when('waiting_lane', 'is', null).then(p.now).else(eb.ref('finished_at')).end(),
      }))
      .where('webhook_id', '=', p.webhook_id)
      .where('delivery_id', '=', p.delivery_id),
  );

export const logAttempt = (builder: Kysely<Schema>) =>
  prepared((row: WebhookAttemptTable) =>
    builder
      .insertInto('webhook_attempt')
      .values({
        delivery_id: row.delivery_id,
        attempt: row.attempt,
        started_at: row.started_at,
        duration_ms: row.duration_ms,
        response_status: row.response_status,
        error: row.error,
        response_body: row.response_body,
      })
      .onConflict((conflict) => conflict.columns(['delivery_id', 'attempt']).doNothing()),
  );

export const succeeding = (builder: Kysely<Schema>) =>
  prepared((p: { webhook_id: string; at: string }) =>
    builder
      .updateTable('webhook_subscription')
      .set({ last_success_at: p.at, failing_since: sql.lit(null) })
      .where('webhook_id', '=', p.webhook_id),
  );

export const failing = (builder: Kysely<Schema>) =>
  prepared((p: { webhook_id: string; at: string }) =>
    builder
      .updateTable('webhook_subscription')
      .set((eb) => ({ last_failure_at: p.at, failing_since: eb.fn.coalesce('failing_since', eb.val(p.at)) }))
      .where('webhook_id', '=', p.webhook_id),
  );
