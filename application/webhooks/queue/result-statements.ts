import { sql } from 'kysely';
import type { AttemptResult } from './ended-deliveries.ts';
import type { DeliveryEndpoint, HeadRow } from './lease-lanes.ts';
import type { LaneLease } from './lane-heads.ts';
import { asStatements, inColumns, prepared, preparedRows } from '../../sql/prepared-query.ts';
import type { Schema } from '../../sql/schema.ts';
import type { SqlDatabase, Statement, StatementResult } from '../../sql/sql-database.ts';
import { bigint, endingStatements } from './ended-deliveries.ts';
import { laneOf } from './enqueue.ts';
import { byKey, laneKey } from './lane-heads.ts';
import type { LaneStatements } from './lanes.ts';

type LaneRow = Pick<HeadRow, 'webhook_id' | 'lane'>;
const laneOfRow = ({ webhook_id: webhookId, lane }: LaneRow): string => laneKey({ webhookId, lane });

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

interface ResultAnswers {
  readonly emptied: ReadonlySet<string>;
  readonly heads: ReadonlyMap<string, HeadRow>;
  readonly endpoints: ReadonlyMap<string, DeliveryEndpoint>;
}

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
      /** Of a redelivery, whose delivery may have been removed for its age meanwhile: an attempt without it would never go. */
      logRedelivery: prepared((row: Schema['webhook_attempt'] & { webhook_id: string }) =>
        builder
          .insertInto('webhook_attempt')
          .columns(LOGGED)
          .expression((eb) =>
            eb
              .selectFrom('webhook_delivery')
              .select([
                'webhook_delivery.delivery_id',
                bigint(row.attempt).as('attempt'),
                eb.val(row.started_at).as('started_at'),
                bigint(row.duration_ms).as('duration_ms'),
                bigint(row.response_status).as('response_status'),
                eb.val(row.error).as('error'),
                eb.val(row.response_body).as('response_body'),
              ])
              .where('webhook_delivery.webhook_id', '=', row.webhook_id)
              .where('webhook_delivery.delivery_id', '=', row.delivery_id),
          )
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

  of(
    results: readonly AttemptResult[],
    now: string,
    leaseUntil: string,
  ): { readonly statements: readonly Statement[]; read(answers: readonly StatementResult[]): ResultAnswers } {
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
      ...this.#attempts(ordered, redelivered),
      ...this.#lanes.handBack(handedBack, now),
      ...this.#lanes.renew(kept.filter(runningLow(now, leaseUntil)), leaseUntil),
    ];
    return {
      statements: [...first, ...emptied, ...heads, ...this.#health(results), ...endpoints],
      read: (answers) => {
        const rowsOf = (from: number, { length }: readonly Statement[]) =>
          answers.slice(from, from + length).flatMap(({ rows }) => rows);
        const gone = rowsOf(first.length, emptied) as unknown as readonly LaneRow[];
        const next = rowsOf(first.length + emptied.length, heads) as unknown as readonly HeadRow[];
        const active = rowsOf(
          answers.length - endpoints.length,
          endpoints,
        ) as unknown as readonly DeliveryEndpoint[];
        return {
          emptied: new Set(gone.map(laneOfRow)),
          heads: new Map(next.map((row) => [laneOfRow(row), row])),
          endpoints: new Map(active.map((endpoint) => [endpoint.webhookId, endpoint])),
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

  #attempts(ordered: readonly AttemptResult[], redelivered: readonly AttemptResult[]): readonly Statement[] {
    const { logAttempts, logRedelivery } = this.#compiled;
    return asStatements([
      ...logAttempts(ordered.map(attemptRow)),
      ...redelivered.map((result) =>
        logRedelivery({ webhook_id: result.delivery.lease.webhookId, ...attemptRow(result) }),
      ),
    ]);
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
