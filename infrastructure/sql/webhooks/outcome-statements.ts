import type { Kysely } from 'kysely';
import type { AttemptResult, LaneLease } from '../../../application/ports/delivery-queue.ts';
import type { Schema } from '../schema.ts';
import type { Statement } from '../sql-database.ts';
import { laneOf } from './enqueue-statements.ts';
import type { LaneStatements } from './lane-statements.ts';
import {
  delivered,
  exhausted,
  failing,
  logAttempt,
  redeliveryFailed,
  retried,
  succeeding,
} from './outcome-queries.ts';
import type { Ended } from './outcome-queries.ts';

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
 * The statements that store what an attempt came to. The first holds the lease; the last answers the lane's next delivery, if any.
 * Rows are locked in one order everywhere: lanes, deliveries, subscriptions.
 */
export class OutcomeStatements {
  readonly #lanes: LaneStatements;
  readonly #compiled;

  constructor(builder: Kysely<Schema>, lanes: LaneStatements) {
    this.#lanes = lanes;
    this.#compiled = {
      delivered: delivered(builder),
      retried: retried(builder),
      exhausted: exhausted(builder),
      redeliveryFailed: redeliveryFailed(builder),
      logAttempt: logAttempt(builder),
      succeeding: succeeding(builder),
      failing: failing(builder),
    };
  }

  of(result: AttemptResult, now: string, leaseUntil: string): Statement[] {
    const logged = { query: this.#logged(result) };
    const { lease, redelivery } = result.delivery;
    if (redelivery) {
      const { verdict, delivery } = result;
      const nudge = { webhook_id: lease.webhookId, lane: laneOf(delivery.event), now };
      const after = verdict.kind === 'delivered' ? [{ query: this.#lanes.nudge(nudge) }] : [];
      return [this.#lanes.end(lease), ...after, { query: this.#redelivered(result, now) }, logged];
    }
    const attempted = { query: this.#attempted(result, now) };
    return [this.#lanes.guard(lease), attempted, logged, ...this.#laneAfter(result, now, leaseUntil)];
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

  #logged({ delivery, record }: AttemptResult) {
    return this.#compiled.logAttempt({
      delivery_id: delivery.deliveryId,
      attempt: record.attempt,
      started_at: record.at,
      duration_ms: record.durationMs,
      response_status: record.responseStatus,
      error: record.error,
      response_body: record.responseBody,
    });
  }

  #health({ delivery, record, verdict }: AttemptResult): Statement {
    const note = { webhook_id: delivery.endpoint.webhookId, at: record.at };
    const { succeeding, failing } = this.#compiled;
    return { query: verdict.kind === 'delivered' ? succeeding(note) : failing(note) };
  }
}
