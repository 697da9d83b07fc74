import { sql } from 'kysely';
import type { Expression, ExpressionBuilder } from 'kysely';
import {
  asStatements,
  inColumns,
  lookedUp,
  prepared,
  preparedRows,
  valuesOf,
} from '../../sql/prepared-query.ts';
import type { Schema } from '../../sql/schema.ts';
import type { SqlDatabase, Statement, StatementResult } from '../../sql/sql-database.ts';
import type { EndedAttempt } from '../delivery-log.ts';
import { laneOf } from './enqueue.ts';
import { byKey, laneKey } from './lane-heads.ts';
import type { LaneLease } from './lane-heads.ts';
import type { LaneStatements } from './lanes.ts';
import type { DeliveryEndpoint, HeadRow, LeasedDelivery } from './lease-lanes.ts';

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

const bigint = (value: number | null) => sql`cast(${value} as bigint)`;

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

const endingStatements = (target: Target) => {
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

const LOGGED = [
  ...(['delivery_id', 'attempt', 'started_at', 'duration_ms'] as const),
  ...(['response_status', 'error', 'response_body'] as const),
] as const;

const WORTH_RENEWING = 0.9;

/** Which leases to renew to that end. A renewal writes an index: a fast receiver's lane need not do that for each delivery. */
export const runningLow = (now: string, leaseUntil: string): ((lease: LaneLease) => boolean) => {
  const [from, to] = [Date.parse(now), Date.parse(leaseUntil)];
  const worthRenewing = new Date(from + Math.ceil(WORTH_RENEWING * (to - from))).toISOString();
  // More than all of it is left only where the clock was set back, and then the store may have shortened it.
  return ({ until }) => until < worthRenewing || until > leaseUntil;
};

const attemptRow = ({ delivery: { deliveryId }, record }: AttemptResult): Schema['webhook_attempt'] => ({
  delivery_id: deliveryId,
  attempt: record.attempt,
  started_at: record.at,
  duration_ms: record.durationMs,
  response_status: record.responseStatus,
  error: record.error,
  response_body: record.responseBody,
});

const leaseOf = ({ delivery }: AttemptResult): LaneLease => delivery.lease;

/** The statements that store what attempts came to: few for many of them. Rows are locked in one order everywhere: lanes, deliveries, subscriptions. */
export class ResultStatements {
  readonly #lanes: LaneStatements;
  readonly #ended: ReturnType<typeof endingStatements>;
  readonly #compiled;

  constructor(database: Pick<SqlDatabase, 'builder' | 'dialect'>, lanes: LaneStatements) {
    const { builder } = database;
    this.#lanes = lanes;
    this.#ended = endingStatements(database);
    this.#compiled = {
      logAttempts: preparedRows((rows: readonly Schema['webhook_attempt'][]) =>
        builder
          .insertInto('webhook_attempt')
          .values(rows.map((row) => inColumns(row, LOGGED)))
          .onConflict((conflict) => conflict.columns(['delivery_id', 'attempt']).doNothing()),
      ),
      succeeding: prepared((p: { webhook_id: string; at: string }) =>
        builder
          .updateTable('webhook_subscription')
          .set({ last_success_at: p.at, failing_since: sql.lit(null) })
          .where('webhook_id', '=', p.webhook_id),
      ),
      failing: prepared((p: { webhook_id: string; at: string }) =>
        builder
          .updateTable('webhook_subscription')
          .set((eb) => ({
            last_failure_at: p.at,
            failing_since: eb.fn.coalesce('failing_since', eb.val(p.at)),
          }))
          .where('webhook_id', '=', p.webhook_id),
      ),
    };
  }

  of(results: readonly AttemptResult[], now: string, leaseUntil: string) {
    const redelivered = results.filter(({ delivery }) => delivery.redelivery);
    const ordered = results.filter(({ delivery }) => !delivery.redelivery);
    const kept = ordered.filter(({ keepLane }) => keepLane).map(leaseOf);
    const handedBack = ordered.filter(({ keepLane }) => !keepLane).map(leaseOf);
    const { emptied, heads } = this.#lanes.goOn(kept, now);
    const endpoints = [...new Set(results.map((result) => leaseOf(result).webhookId))].map((webhook_id) => ({
      query: this.#lanes.endpoint({ webhook_id }),
    }));
    const first = [
      ...this.#endOf(redelivered, now),
      ...this.#lanes.guard(ordered.map(leaseOf)),
      // There may be several of one delivery.
      ...redelivered.flatMap((result) => this.#ended([result], now)),
      ...this.#ended(ordered, now),
      ...asStatements(this.#compiled.logAttempts([...ordered, ...redelivered].map(attemptRow))),
      ...this.#lanes.handBack(handedBack, now),
      ...this.#lanes.renew(kept.filter(runningLow(now, leaseUntil)), leaseUntil),
    ];
    return {
      statements: [...first, ...emptied, ...heads, ...this.#health(results), ...endpoints],
      read: (answers: readonly StatementResult[]) => {
        const rowsOf = <Row>(from: number, { length }: readonly Statement[]) =>
          answers.slice(from, from + length).flatMap(({ rows }) => rows) as unknown as readonly Row[];
        const gone = rowsOf<HeadRow>(first.length, emptied);
        const next = rowsOf<HeadRow>(first.length + emptied.length, heads);
        const active = rowsOf<DeliveryEndpoint>(answers.length - endpoints.length, endpoints);
        return {
          emptied: new Set(gone.map(laneKey)),
          heads: new Map(next.map((row) => [laneKey(row), row])),
          endpoints: new Map(active.map((one) => [one.webhookId, one])),
        };
      },
    };
  }

  /** A redelivery has a lane of its own, which ends with it. */
  #endOf(redelivered: readonly AttemptResult[], now: string): readonly Statement[] {
    return redelivered.toSorted(byKey((result) => laneKey(leaseOf(result)))).flatMap((result) => {
      const { lease, event } = result.delivery;
      const nudge = { webhook_id: lease.webhookId, lane: laneOf(event), now };
      const after = result.verdict.kind === 'delivered' ? [{ query: this.#lanes.nudge(nudge) }] : [];
      return [this.#lanes.end(lease), ...after];
    });
  }

  /** Those of one subscription as they came: the last of them says whether it fails. */
  #health(results: readonly AttemptResult[]): readonly Statement[] {
    const { succeeding, failing } = this.#compiled;
    const noted = results
      .filter(({ noteHealth }) => noteHealth)
      .sort(byKey((result) => leaseOf(result).webhookId));
    return noted.map(({ delivery, record, verdict }) => {
      const note = { webhook_id: delivery.endpoint.webhookId, at: record.at };
      return { query: verdict.kind === 'delivered' ? succeeding(note) : failing(note) };
    });
  }
}
