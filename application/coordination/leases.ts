import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import { engineNow } from '../sql/engine.ts';
import type { SqlDatabase } from '../sql/sql-database.ts';

const ENDED = 0;

/** The right to play a role that only one process may play, until it ends, is given back or is taken over. */
export interface Lease {
  readonly name: string;
  readonly holder: string;
  /** Grows with every acquisition of this name, by any process: a later holder has a higher one. */
  readonly token: number;
}

export type Leases = Pick<SqlLeases, 'acquire' | 'renew' | 'release'>;

/**
 * Leases of named roles, at most one holder a name. The store's clock alone decides when a lease has ended, so the clocks of the
 * processes need not agree. A holder counts its own time from before it asked: its view then ends no later than the store's.
 */
export class SqlLeases {
  readonly #database: SqlDatabase;
  readonly #now: RawBuilder<number>;

  constructor(database: SqlDatabase) {
    this.#database = database;
    this.#now = engineNow[database.dialect];
  }

  /**
   * For `ttlMs` from now, as long as every holder of the name asks for; undefined while another holder's lease lasts, which is no longer
   * than that however the store's clock is set. The same holder gets it again under a higher token, because
   * an answer may have been lost on the way.
   */
  async acquire(name: string, holder: string, ttlMs: number): Promise<Lease | undefined> {
    // A process that waits for the lease asks often; a look costs no disk.
    const held = await this.#heldByAnother(name, holder, ttlMs);
    if (held?.beyond) await this.#shorten(name, ttlMs);
    if (held) return undefined;
    const until = sql<number>`${this.#now} + ${ttlMs}`;
    const query = this.#database.builder
      .insertInto('lease')
      .values({ name, holder, token: 1, until_ms: until })
      .onConflict((conflict) =>
        conflict
          .column('name')
          .doUpdateSet({ holder, token: sql<number>`lease.token + 1`, until_ms: until })
          .where((eb) =>
            eb.or([eb('lease.until_ms', '<=', this.#now), eb('lease.holder', '=', eb.val(holder))]),
          ),
      )
      .returning('token');
    const [result] = await this.#database.transaction([{ query: query.compile() }]);
    const [row] = result!.rows as readonly { readonly token: number }[];
    return row && { name, holder, token: row.token };
  }

  /** Another `ttlMs` from now; false when it has ended or passed on, and then it stays so. */
  async renew({ name, token }: Lease, ttlMs: number): Promise<boolean> {
    const query = this.#database.builder
      .updateTable('lease')
      .set({ until_ms: sql<number>`${this.#now} + ${ttlMs}` })
      .where('name', '=', name)
      .where('token', '=', token)
      .where('until_ms', '>', this.#now);
    const [result] = await this.#database.transaction([{ query: query.compile() }]);
    return result!.changes === 1;
  }

  /** Free for the next one at once; the row stays, so that its token never starts again. */
  async release({ name, token }: Lease): Promise<void> {
    const query = this.#database.builder
      .updateTable('lease')
      .set({ until_ms: ENDED })
      .where('name', '=', name)
      .where('token', '=', token);
    await this.#database.transaction([{ query: query.compile() }]);
  }

  async held(): Promise<readonly { readonly name: string; readonly holder: string }[]> {
    const query = this.#database.builder
      .selectFrom('lease')
      .select(['name', 'holder'])
      .where('until_ms', '>', this.#now)
      .orderBy('name');
    return this.#database.read(query);
  }

  /** `beyond`: for longer than any holder asks for, so the engine's clock was set back since. */
  async #heldByAnother(
    name: string,
    holder: string,
    ttlMs: number,
  ): Promise<{ readonly beyond: boolean } | undefined> {
    const query = this.#database.builder
      .selectFrom('lease')
      .select(sql<number>`case when until_ms > ${this.#now} + ${ttlMs} then 1 else 0 end`.as('beyond'))
      .where('name', '=', name)
      .where('holder', '<>', holder)
      .where('until_ms', '>', this.#now);
    const [row] = await this.#database.read(query);
    return row && { beyond: Number(row.beyond) === 1 };
  }

  /** A holder that lives renews it meanwhile. */
  async #shorten(name: string, ttlMs: number): Promise<void> {
    const until = sql<number>`${this.#now} + ${ttlMs}`;
    const query = this.#database.builder
      .updateTable('lease')
      .set({ until_ms: until })
      .where('name', '=', name)
      .where('until_ms', '>', until);
    await this.#database.transaction([{ query: query.compile() }]);
  }
}
