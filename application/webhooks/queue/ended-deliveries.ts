import type { EndedAttempt } from '../delivery-log.ts';
import { byKey } from './lane-heads.ts';
import type { LeasedDelivery } from './lease-lanes.ts';
import { sql } from 'kysely';
import type { Expression, ExpressionBuilder } from 'kysely';

import { asStatements, lookedUp, preparedRows, valuesOf } from '../../sql/prepared-query.ts';
import type { Schema } from '../../sql/schema.ts';
import type { SqlDatabase, Statement } from '../../sql/sql-database.ts';

export type AttemptVerdict =
  | { readonly kind: 'delivered' }
  | { readonly kind: 'retry'; readonly at: string }
  | { readonly kind: 'failed' };

export interface AttemptResult {
  readonly delivery: LeasedDelivery;
  readonly record: EndedAttempt;
  readonly verdict: AttemptVerdict;
  /** True to go on with the lane's next delivery under the same lease. */
  readonly keepLane: boolean;
  /** True to note this result on the subscription (last success, last failure, failing since) as well. */
  readonly noteHealth: boolean;
}

/** One attempt at a delivery, after it ended. Instants are UNIX milliseconds. */
export interface WatchedAttempt {
  readonly delivery: LeasedDelivery;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly outcome: {
    readonly kind: 'delivered' | 'failed';
    /** Stable word for what went wrong; absent when it was delivered. */
    readonly reason?: string;
    readonly status: number | null;
  };
}

/** Is told of each attempt. Returns at once and never fails. */
export interface AttemptWatch {
  attempted(attempt: WatchedAttempt): void;
}

interface Ended {
  webhook_id: string;
  delivery_id: string;
  attempt: number;
  /** Attempts of the schedule used up now; null to leave the count. */
  scheduled: number | null;
  started_at: string;
  response_status: number | null;
  error: string | null;
  retry_at: string | null;
  now: string;
}

type Target = Pick<SqlDatabase, 'builder' | 'dialect'>;
type Delivery = ExpressionBuilder<Schema & { ended: Ended }, 'webhook_delivery' | 'ended'>;

export const bigint = (value: number | null) => sql`cast(${value} as bigint)`;

const ending = ({ builder, dialect }: Target, become: (eb: Delivery) => object) =>
  preparedRows((rows: readonly Ended[]) =>
    builder
      .with(
        'ended(webhook_id, delivery_id, attempt, scheduled, started_at, response_status, error, retry_at, now)',
        () =>
          valuesOf<Ended>(
            rows.map((row) => [
              ...[
                row.webhook_id,
                row.delivery_id,
                bigint(row.attempt),
                bigint(row.scheduled),
                row.started_at,
              ],
              ...[bigint(row.response_status), row.error, row.retry_at, row.now],
            ]),
          ),
      )
      .updateTable('webhook_delivery')
      .from('ended')
      .set((eb) => ({
        // A number given out to a redelivery meanwhile stays the highest.
        attempts: eb
          .case()
          .when('webhook_delivery.attempts', '<', eb.ref('ended.attempt'))
          .then(eb.ref('ended.attempt'))
          .else(eb.ref('webhook_delivery.attempts'))
          .end(),
        scheduled_attempts: eb.fn.coalesce('ended.scheduled', 'webhook_delivery.scheduled_attempts'),
        last_attempt_at: eb.ref('ended.started_at'),
        last_response_status: eb.ref('ended.response_status'),
        last_error: eb.ref('ended.error'),
        ...become(eb),
      }))
      .where(
        lookedUp(dialect, [
          ['webhook_delivery.webhook_id', 'ended.webhook_id'],
          ['webhook_delivery.delivery_id', 'ended.delivery_id'],
        ]),
      ),
  );

/** What a redelivery has delivered meanwhile waits no more, and stays as it is. */
const whileItWaits = <Value>(eb: Delivery, current: Expression<Value>, then: Expression<Value>) =>
  eb.case().when('webhook_delivery.waiting_lane', 'is', null).then(current).else(then).end();

const endedOf = ({ delivery, record, verdict }: AttemptResult, now: string): Ended => ({
  webhook_id: delivery.lease.webhookId,
  delivery_id: delivery.deliveryId,
  attempt: record.attempt,
  scheduled: delivery.redelivery ? null : delivery.scheduledAttempts + 1,
  started_at: record.at,
  response_status: record.responseStatus,
  error: record.error,
  retry_at: verdict.kind === 'retry' ? verdict.at : null,
  now,
});

export const endingStatements = (target: Target) => {
  const updates = {
    delivered: ending(target, (eb) => ({
      status: sql.lit('delivered' as const),
      delivered_at: eb.fn.coalesce('webhook_delivery.delivered_at', 'ended.now'),
      finished_at: eb.ref('ended.now'),
      next_attempt_at: sql.lit(null),
      waiting_lane: sql.lit(null),
    })),
    retried: ending(target, (eb) => ({
      status: whileItWaits(eb, eb.ref('webhook_delivery.status'), sql.lit('retrying' as const)),
      next_attempt_at: whileItWaits(eb, eb.ref('webhook_delivery.next_attempt_at'), eb.ref('ended.retry_at')),
    })),
    exhausted: ending(target, (eb) => ({
      status: whileItWaits(eb, eb.ref('webhook_delivery.status'), sql.lit('failed' as const)),
      finished_at: whileItWaits(eb, eb.ref('webhook_delivery.finished_at'), eb.ref('ended.now')),
      next_attempt_at: sql.lit(null),
      waiting_lane: sql.lit(null),
    })),
    /** Leaves the delivery as it was, except one that had no other attempt before it, or never will have one after it. */
    redeliveryFailed: ending(target, (eb) => ({
      status: eb
        .case()
        .when('webhook_delivery.status', '<>', sql.lit('pending' as const))
        .then(eb.ref('webhook_delivery.status'))
        .when('webhook_delivery.waiting_lane', 'is', null)
        .then(sql.lit('failed' as const))
        .else(sql.lit('retrying' as const))
        .end(),
      finished_at: eb
        .case()
        .when('webhook_delivery.waiting_lane', 'is', null)
        .then(eb.ref('ended.now'))
        .else(eb.ref('webhook_delivery.finished_at'))
        .end(),
    })),
  };
  const updateOf = ({ delivery, verdict }: AttemptResult) => {
    if (verdict.kind === 'delivered') return updates.delivered;
    if (delivery.redelivery) return updates.redeliveryFailed;
    return verdict.kind === 'retry' ? updates.retried : updates.exhausted;
  };
  return (results: readonly AttemptResult[], now: string): readonly Statement[] =>
    asStatements(
      [...Map.groupBy(results, updateOf)].flatMap(([update, some]) =>
        update(some.map((result) => endedOf(result, now)).sort(byKey(({ delivery_id: id }) => id))),
      ),
    );
};
