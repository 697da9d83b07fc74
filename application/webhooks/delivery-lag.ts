import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Schema } from '../sql/schema.ts';
import type { SqlDatabase } from '../sql/sql-database.ts';
import { firstIdAt } from '../support/time-ordered-id.ts';
import type { DeliveryState } from './delivery-states.ts';
import { floorRows } from './queue/lane-floors.ts';

export interface OldestWaiting {
  readonly webhookId: string;
  readonly oldestCreatedAt: string;
}

/** Longer than a delivery can be under way to the table, and than clocks of two processes are apart. */
const LONGEST_DELAY_MS = 120_000;
const WHOLE_EVERY_MS = 600_000;

/**
 * Creation of the oldest delivery in this state at the subscription `s` of the enclosing query. States are written out, not bound: a partial index
 * is found by its own condition only.
 */
const oldestOf = (builder: Kysely<Schema>, status: DeliveryState, floored: boolean) =>
  builder
    .selectFrom('webhook_delivery as oldest')
    .select('oldest.created_at')
    .where('oldest.webhook_id', '=', sql.ref<string>('s.webhook_id'))
    .where('oldest.delivery_id', '=', (eb) =>
      eb
        .selectFrom('webhook_delivery as d')
        .select((d) => d.fn.min('d.delivery_id').as('delivery_id'))
        .where('d.webhook_id', '=', sql.ref<string>('s.webhook_id'))
        .where('d.status', '=', sql.lit(status))
        .where('d.status', '<>', sql.lit<DeliveryState>('delivered'))
        .$if(floored, (q) => q.where('d.delivery_id', '>=', sql<string>`coalesce(floor.value, '')`)),
    );

/**
 * Since when deliveries wait. The search for the oldest begins at a delivery id, by subscription: as with lanes (`lane-floors.ts`), what
 * was delivered stays in PostgreSQL's index while a transaction is held open. A delivery waits from its creation on, and ids sort by
 * creation, so none that is older than the oldest one found comes to wait any more, but for one that is asked for again: that one is
 * found by the searches from the start, every ten minutes.
 */
export class DeliveryLag {
  readonly #database: SqlDatabase;
  readonly #now: () => number;
  #floors: Readonly<Record<string, string>> = {};
  #wholeAt = -Infinity;

  /** @param now UNIX milliseconds */
  constructor(database: SqlDatabase, now: () => number = () => Date.now()) {
    this.#database = database;
    this.#now = now;
  }

  async read(): Promise<readonly OldestWaiting[]> {
    const { builder } = this.#database;
    const floors = this.#knownFloors();
    const oldest = (status: DeliveryState) => oldestOf(builder, status, floors !== undefined);
    const rows = await this.#database.read(
      builder
        .selectFrom('webhook_subscription as s')
        .$if(floors !== undefined, (q) =>
          q.leftJoin(floorRows(floors!, 'floor'), 'floor.key', 's.webhook_id'),
        )
        .select('s.webhook_id')
        .select([oldest('pending').as('pending'), oldest('retrying').as('retrying')])
        .where('s.status', '<>', 'removed'),
    );
    const lags = rows.map(({ webhook_id: webhookId, pending, retrying }) => ({
      webhookId,
      oldestCreatedAt: [pending, retrying].filter((instant) => instant !== null).sort()[0],
    }));
    const now = this.#now();
    if (floors === undefined) this.#wholeAt = now;
    this.#floors = Object.fromEntries(
      lags.map(({ webhookId, oldestCreatedAt }) => {
        const since = oldestCreatedAt === undefined ? now : Date.parse(oldestCreatedAt);
        return [webhookId, firstIdAt(Math.min(since, now) - LONGEST_DELAY_MS)];
      }),
    );
    return lags.flatMap(({ webhookId, oldestCreatedAt }) =>
      oldestCreatedAt === undefined ? [] : [{ webhookId, oldestCreatedAt }],
    );
  }

  /** Undefined for a search from the start. */
  #knownFloors(): Readonly<Record<string, string>> | undefined {
    const now = this.#now();
    // Also after a clock that was set back.
    const recent = now >= this.#wholeAt && now - this.#wholeAt < WHOLE_EVERY_MS;
    return this.#database.dialect === 'postgres' && recent ? this.#floors : undefined;
  }
}
