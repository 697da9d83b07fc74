import type { AttemptResult, LaneLease, RecordedResult } from '../../../application/ports/delivery-queue.ts';
import { GuardFailedError } from '../sql-database.ts';
import type { SqlDatabase, Statement } from '../sql-database.ts';
import type { EventBodies } from './events.ts';
import { REPEATABLE } from './lanes.ts';
import type { LaneStatements } from './lanes.ts';
import { endpointOf, leasedDeliveries } from './lease-lanes.ts';
import type { Head, HeadRow } from './lease-lanes.ts';
import { byLane, isRunningLow } from './result-statements.ts';
import type { ResultStatements } from './result-statements.ts';

/** A kept lane's last statement answers its head; the one before says whether it was empty. */
const DROP = 1;

type Entry = readonly [index: number, result: AttemptResult];
const byLaneOfEntry = ([, one]: Entry, [, other]: Entry): number =>
  byLane(one.delivery.lease, other.delivery.lease);

interface RecordedTogether {
  readonly recorded: readonly RecordedResult[];
  /** Kept, but with nothing to send now. */
  readonly idle: readonly LaneLease[];
}

/** Stores results together in one transaction; when one of them comes too late, each in a transaction of its own. */
export class ResultRecorder {
  readonly #database: SqlDatabase;
  readonly #lanes: LaneStatements;
  readonly #statements: ResultStatements;
  readonly #bodies: EventBodies;

  constructor(
    database: SqlDatabase,
    lanes: LaneStatements,
    statements: ResultStatements,
    bodies: EventBodies,
  ) {
    this.#database = database;
    this.#lanes = lanes;
    this.#statements = statements;
    this.#bodies = bodies;
  }

  async record(
    results: readonly AttemptResult[],
    now: string,
    leaseUntil: string,
  ): Promise<RecordedTogether> {
    try {
      return await this.#together(results, now, leaseUntil);
    } catch (error) {
      if (!(error instanceof GuardFailedError)) throw error;
      if (results.length === 1) return { recorded: [{ kind: 'lease_lost' }], idle: [] };
      const alone = await Promise.all(results.map((result) => this.record([result], now, leaseUntil)));
      return {
        recorded: alone.flatMap(({ recorded }) => recorded),
        idle: alone.flatMap(({ idle }) => idle),
      };
    }
  }

  async #together(
    results: readonly AttemptResult[],
    now: string,
    leaseUntil: string,
  ): Promise<RecordedTogether> {
    const statements: Statement[] = [];
    const lastOf: number[] = [];
    for (const [index, result] of [...results.entries()].sort(byLaneOfEntry)) {
      statements.push(...this.#statements.of(result, now, leaseUntil));
      lastOf[index] = statements.length - 1;
    }
    statements.push(...this.#statements.health(results));
    const webhookIds = [...new Set(results.map(({ delivery }) => delivery.lease.webhookId))];
    const endpoints = webhookIds.map((webhook_id) => ({ query: this.#lanes.endpoint({ webhook_id }) }));
    const answers = await this.#database.transaction([...statements, ...endpoints], REPEATABLE);
    const active = new Map(
      answers.slice(statements.length).map((result, index) => [webhookIds[index]!, endpointOf(result)]),
    );
    const renewed = (lease: LaneLease): LaneLease =>
      isRunningLow(lease, now, leaseUntil) ? { ...lease, until: leaseUntil } : lease;
    const heads = results.flatMap(({ delivery, keepLane }, index): (Head & { index: number })[] => {
      const { lease } = delivery;
      const endpoint = active.get(lease.webhookId);
      const [row] = answers[lastOf[index]!]!.rows as unknown as readonly HeadRow[];
      return keepLane && row && endpoint ? [{ row, endpoint, lease: renewed(lease), index }] : [];
    });
    const deliveries = await leasedDeliveries(heads, this.#bodies);
    const next = new Map(heads.map(({ index }, place) => [index, deliveries[place]]));
    const recorded = results.map((_, index): RecordedResult => {
      const delivery = next.get(index);
      return delivery ? { kind: 'next', delivery } : { kind: 'released' };
    });
    const isIdle = ({ delivery, keepLane }: AttemptResult, index: number): boolean =>
      keepLane && !delivery.redelivery && !next.get(index) && answers[lastOf[index]! - DROP]!.changes === 0;
    return { recorded, idle: results.filter(isIdle).map(({ delivery }) => delivery.lease) };
  }
}
