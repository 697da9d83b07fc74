import type { AttemptResult, LaneLease, Settlement } from '../../../application/ports/delivery-queue.ts';
import { GuardFailedError } from '../sql-database.ts';
import type { SqlDatabase, Statement, TransactionOptions } from '../sql-database.ts';
import type { EventBodies } from './event-bodies.ts';
import type { LaneStatements } from './lane-statements.ts';
import { endpointOf, leasedDeliveries } from './leased-deliveries.ts';
import type { Head, HeadRow } from './leased-deliveries.ts';
import { byLane, isRunningLow } from './outcome-statements.ts';
import type { OutcomeStatements } from './outcome-statements.ts';

/** A kept lane's last statement answers its head; the one before says whether it was empty. */
const DROP = 1;

/** A claim or an outcome that a power cut takes back is a delivery sent again, which receivers must expect anyway. */
export const REPEATABLE: TransactionOptions = { durability: 'relaxed' };

type Entry = readonly [index: number, result: AttemptResult];
const byLaneOfEntry = ([, one]: Entry, [, other]: Entry): number =>
  byLane(one.delivery.lease, other.delivery.lease);

interface Settled {
  readonly settlements: readonly Settlement[];
  /** Kept, but with nothing to send now. */
  readonly idle: readonly LaneLease[];
}

/** Stores results together in one transaction; when one of them comes too late, each in a transaction of its own. */
export class Settlements {
  readonly #database: SqlDatabase;
  readonly #lanes: LaneStatements;
  readonly #outcomes: OutcomeStatements;
  readonly #bodies: EventBodies;

  constructor(
    database: SqlDatabase,
    lanes: LaneStatements,
    outcomes: OutcomeStatements,
    bodies: EventBodies,
  ) {
    this.#database = database;
    this.#lanes = lanes;
    this.#outcomes = outcomes;
    this.#bodies = bodies;
  }

  async make(results: readonly AttemptResult[], now: string, leaseUntil: string): Promise<Settled> {
    try {
      return await this.#together(results, now, leaseUntil);
    } catch (error) {
      if (!(error instanceof GuardFailedError)) throw error;
      if (results.length === 1) return { settlements: [{ kind: 'lease_lost' }], idle: [] };
      const alone = await Promise.all(results.map((result) => this.make([result], now, leaseUntil)));
      return {
        settlements: alone.flatMap(({ settlements }) => settlements),
        idle: alone.flatMap(({ idle }) => idle),
      };
    }
  }

  async #together(results: readonly AttemptResult[], now: string, leaseUntil: string): Promise<Settled> {
    const statements: Statement[] = [];
    const lastOf: number[] = [];
    for (const [index, result] of [...results.entries()].sort(byLaneOfEntry)) {
      statements.push(...this.#outcomes.of(result, now, leaseUntil));
      lastOf[index] = statements.length - 1;
    }
    statements.push(...this.#outcomes.health(results));
    const webhookIds = [...new Set(results.map(({ delivery }) => delivery.lease.webhookId))];
    const endpoints = webhookIds.map((webhook_id) => ({ query: this.#lanes.endpoint({ webhook_id }) }));
    const outcomes = await this.#database.transaction([...statements, ...endpoints], REPEATABLE);
    const active = new Map(
      outcomes.slice(statements.length).map((result, index) => [webhookIds[index]!, endpointOf(result)]),
    );
    const renewed = (lease: LaneLease): LaneLease =>
      isRunningLow(lease, now, leaseUntil) ? { ...lease, until: leaseUntil } : lease;
    const heads = results.flatMap(({ delivery, keepLane }, index): (Head & { index: number })[] => {
      const { lease } = delivery;
      const endpoint = active.get(lease.webhookId);
      const [row] = outcomes[lastOf[index]!]!.rows as unknown as readonly HeadRow[];
      return keepLane && row && endpoint ? [{ row, endpoint, lease: renewed(lease), index }] : [];
    });
    const deliveries = await leasedDeliveries(heads, this.#bodies);
    const next = new Map(heads.map(({ index }, place) => [index, deliveries[place]]));
    const settlements = results.map((_, index): Settlement => {
      const delivery = next.get(index);
      return delivery ? { kind: 'next', delivery } : { kind: 'released' };
    });
    const isIdle = ({ delivery, keepLane }: AttemptResult, index: number): boolean =>
      keepLane && !delivery.redelivery && !next.get(index) && outcomes[lastOf[index]! - DROP]!.changes === 0;
    return { settlements, idle: results.filter(isIdle).map(({ delivery }) => delivery.lease) };
  }
}
