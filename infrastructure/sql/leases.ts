import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { Lease, Leases } from '../../application/ports/coordination.ts';
import type { SqlDatabase, SqlDialect } from './sql-database.ts';

/** The engine's own clock, in milliseconds since 1970: the same for every process that asks it. */
export const engineNow: Readonly<Record<SqlDialect, RawBuilder<number>>> = {
  sqlite: sql<number>`cast(unixepoch('subsec') * 1000 as integer)`,
  // Unlike now(), it goes on while a transaction waits for a row.
  postgres: sql<number>`cast(floor(extract(epoch from clock_timestamp()) * 1000) as bigint)`,
};

/** UNIX milliseconds by the engine's clock. */
export const engineTime = async (database: SqlDatabase): Promise<number> => {
  const query = database.builder.selectNoFrom(engineNow[database.dialect].as('now'));
  const [row] = await database.read(query);
  return Number(row!.now);
};

const ENDED = 0;

export class SqlLeases implements Leases {
  readonly #database: SqlDatabase;
  readonly #now: RawBuilder<number>;

  constructor(database: SqlDatabase) {
    this.#database = database;
    this.#now = engineNow[database.dialect];
  }

  async acquire(name: string, holder: string, ttlMs: number): Promise<Lease | undefined> {
    // A process that waits for the lease asks often; a look costs no disk.
    if (await this.#isHeldByAnother(name, holder)) return undefined;
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

  /** The row stays, so that its token never starts again. */
  async release({ name, token }: Lease): Promise<void> {
    const query = this.#database.builder
      .updateTable('lease')
      .set({ until_ms: ENDED })
      .where('name', '=', name)
      .where('token', '=', token);
    await this.#database.transaction([{ query: query.compile() }]);
  }

  /** Leases that have not ended, by name. */
  async held(): Promise<readonly { readonly name: string; readonly holder: string }[]> {
    const query = this.#database.builder
      .selectFrom('lease')
      .select(['name', 'holder'])
      .where('until_ms', '>', this.#now)
      .orderBy('name');
    return this.#database.read(query);
  }

  async #isHeldByAnother(name: string, holder: string): Promise<boolean> {
    const query = this.#database.builder
      .selectFrom('lease')
      .select('token')
      .where('name', '=', name)
      .where('holder', '<>', holder)
      .where('until_ms', '>', this.#now);
    return (await this.#database.read(query)).length > 0;
  }
}
