import { sql } from 'kysely';
import type { Expression, ExpressionBuilder, Kysely } from 'kysely';
import type { AttemptResult, LaneLease } from '../../../application/ports/delivery-queue.ts';
import type { Schema } from '../schema.ts';
import type { Statement } from '../sql-database.ts';
import { laneOf } from './enqueue.ts';
import type { LaneStatements } from './lanes.ts';
import { prepared, preparedRows } from '../prepared-query.ts';
import type { WebhookAttemptTable } from './schema.ts';

interface Ended {
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

const delivered = (builder: Kysely<Schema>) =>
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

const retried = (builder: Kysely<Schema>) =>
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

const exhausted = (builder: Kysely<Schema>) =>
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
const redeliveryFailed = (builder: Kysely<Schema>) =>
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

const logAttempts = (builder: Kysely<Schema>) =>
  preparedRows((rows: readonly WebhookAttemptTable[]) =>
    builder
      .insertInto('webhook_attempt')
      .values(
        rows.map((row) => ({
          delivery_id: row.delivery_id,
          attempt: row.attempt,
          started_at: row.started_at,
          duration_ms: row.duration_ms,
          response_status: row.response_status,
          error: row.error,
          response_body: row.response_body,
        })),
      )
      .onConflict((conflict) => conflict.columns(['delivery_id', 'attempt']).doNothing()),
  );

const succeeding = (builder: Kysely<Schema>) =>
  prepared((p: { webhook_id: string; at: string }) =>
    builder
      .updateTable('webhook_subscription')
      .set({ last_success_at: p.at, failing_since: sql.lit(null) })
      .where('webhook_id', '=', p.webhook_id),
  );

const failing = (builder: Kysely<Schema>) =>
  prepared((p: { webhook_id: string; at: string }) =>
    builder
      .updateTable('webhook_subscription')
      .set((eb) => ({ last_failure_at: p.at, failing_since: eb.fn.coalesce('failing_since', eb.val(p.at)) }))
      .where('webhook_id', '=', p.webhook_id),
  );

const WORTH_RENEWING = 0.9;

/** A renewal writes an index: a fast receiver's lane need not do that for each delivery. */
export const isRunningLow = (lease: LaneLease, now: string, leaseUntil: string): boolean => {
  const left = Date.parse(lease.until) - Date.parse(now);
  return left < WORTH_RENEWING * (Date.parse(leaseUntil) - Date.parse(now));
};

const laneKey = ({ webhookId, lane }: LaneLease): string => `${webhookId} ${lane}`;

/** The order in which writers lock lanes. */
export const byLane = (one: LaneLease, other: LaneLease): number => {
  const [key, otherKey] = [laneKey(one), laneKey(other)];
  return key < otherKey ? -1 : Number(key > otherKey);
};

const byLaneOf = (one: AttemptResult, other: AttemptResult): number =>
  byLane(one.delivery.lease, other.delivery.lease);

/**
 * The statements that store what attempts came to. Of each, the first holds the lease; the last answers the lane's next delivery, if any.
 * Rows are locked in one order everywhere: lanes, deliveries, subscriptions.
 */
export class ResultStatements {
  readonly #lanes: LaneStatements;
  readonly #compiled;

  constructor(builder: Kysely<Schema>, lanes: LaneStatements) {
    this.#lanes = lanes;
    this.#compiled = {
      delivered: delivered(builder),
      retried: retried(builder),
      exhausted: exhausted(builder),
      redeliveryFailed: redeliveryFailed(builder),
      logAttempts: logAttempts(builder),
      succeeding: succeeding(builder),
      failing: failing(builder),
    };
  }

  of(result: AttemptResult, now: string, leaseUntil: string): Statement[] {
    const { lease, redelivery } = result.delivery;
    if (redelivery) {
      const { verdict, delivery } = result;
      const nudge = { webhook_id: lease.webhookId, lane: laneOf(delivery.event), now };
      const after = verdict.kind === 'delivered' ? [{ query: this.#lanes.nudge(nudge) }] : [];
      return [this.#lanes.end(lease), ...after, { query: this.#redelivered(result, now) }];
    }
    const attempted = { query: this.#attempted(result, now) };
    return [this.#lanes.guard(lease), attempted, ...this.#laneAfter(result, now, leaseUntil)];
  }

  /** The log of the attempts. */
  attempts(results: readonly AttemptResult[]): readonly Statement[] {
    const rows = results.map(({ delivery: { deliveryId }, record }) => ({
      delivery_id: deliveryId,
      attempt: record.attempt,
      started_at: record.at,
      duration_ms: record.durationMs,
      response_status: record.responseStatus,
      error: record.error,
      response_body: record.responseBody,
    }));
    return this.#compiled.logAttempts(rows).map((query) => ({ query }));
  }

  /** What the results say about the health of their subscriptions. */
  health(results: readonly AttemptResult[]): readonly Statement[] {
    const noted = results.filter(({ noteHealth }) => noteHealth);
    return noted.toSorted(byLaneOf).map((result) => this.#health(result));
  }

  #laneAfter({ delivery: { lease }, keepLane }: AttemptResult, now: string, leaseUntil: string): Statement[] {
    if (!keepLane) return this.#lanes.handBack(lease, now);
    const renewal = isRunningLow(lease, now, leaseUntil) ? [this.#lanes.renew(lease, leaseUntil)] : [];
    return [...renewal, ...this.#lanes.goOn(lease, now)];
  }

  #attempted(result: AttemptResult, now: string) {
    const { verdict } = result;
    const ended = this.#ended(result, now, result.delivery.scheduledAttempts + 1);
    switch (verdict.kind) {
      case 'delivered':
        return this.#compiled.delivered(ended);
      case 'retry':
        return this.#compiled.retried({ ...ended, retry_at: verdict.at });
      case 'failed':
        return this.#compiled.exhausted(ended);
    }
  }

  #redelivered(result: AttemptResult, now: string) {
    const ended = this.#ended(result, now, null);
    return result.verdict.kind === 'delivered'
      ? this.#compiled.delivered(ended)
      : this.#compiled.redeliveryFailed(ended);
  }

  #ended({ delivery, record }: AttemptResult, now: string, scheduled: number | null): Ended {
    return {
      webhook_id: delivery.lease.webhookId,
      delivery_id: delivery.deliveryId,
      attempt: record.attempt,
      scheduled,
      started_at: record.at,
      status: record.responseStatus,
      error: record.error,
      now,
    };
  }

  #health({ delivery, record, verdict }: AttemptResult): Statement {
    const note = { webhook_id: delivery.endpoint.webhookId, at: record.at };
    const { succeeding, failing } = this.#compiled;
    return { query: verdict.kind === 'delivered' ? succeeding(note) : failing(note) };
  }
}
