import { CompiledQuery, sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { ClockOffset, RealClock } from '../../application/ports/clock.ts';
import type {
  CheckpointStore,
  Lease,
  Leases,
  StoredPlace,
  StoredPlaces,
} from '../../application/ports/coordination.ts';
import type { LogPosition } from '../../application/ports/event-store.ts';
import type { SqlDatabase, SqlDialect, Statement } from './sql-database.ts';

type Engine = Pick<SqlDatabase, 'dialect'>;

const EXCLUSIVE = 'select pg_advisory_xact_lock(hashtextextended($1, 0))';
const SHARED = 'select pg_advisory_xact_lock_shared(hashtextextended($1, 0))';

/** SQLite has one writer at a time, so there is nothing to wait for. */
const lock = ({ dialect }: Engine, text: string, name: string): readonly Statement[] =>
  dialect === 'sqlite' ? [] : [{ query: CompiledQuery.raw(text, [name]) }];

/** Until its transaction ends, no other holds this name. What the next statements read is what the one before has left. */
export const alone = (engine: Engine, name: string): readonly Statement[] => lock(engine, EXCLUSIVE, name);

const BRIEF_MS = 50;

/** What follows in the transaction waits for locks only so long. What is refused then is repeated a few times, as a whole. */
export const briefly = ({ dialect }: Engine): readonly Statement[] =>
  dialect === 'sqlite'
    ? []
    : [{ query: CompiledQuery.raw(`select set_config('lock_timeout', '${BRIEF_MS}', true)`) }];

/** Any number hold the name like this at a time, but none while another holds it `alone`. */
export const notAlone = (engine: Engine, name: string): readonly Statement[] => lock(engine, SHARED, name);

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

export class SqlCheckpointStore implements CheckpointStore, StoredPlaces {
  readonly #database: SqlDatabase;
  readonly #clock: RealClock;

  constructor(database: SqlDatabase, clock: RealClock) {
    this.#database = database;
    this.#clock = clock;
  }

  async load(name: string): Promise<LogPosition | 'start'> {
    const query = this.#database.builder.selectFrom('checkpoint').select('position').where('name', '=', name);
    const [row] = await this.#database.read(query);
    return row ? (row.position as LogPosition) : 'start';
  }

  async advance(name: string, expected: LogPosition | 'start', position: LogPosition): Promise<boolean> {
    const { builder } = this.#database;
    const at = { position, updated_at: this.#clock.realNow() };
    const query =
      expected === 'start'
        ? builder
            .insertInto('checkpoint')
            .values({ name, ...at })
            .onConflict((conflict) => conflict.column('name').doNothing())
            .compile()
        : builder
            .updateTable('checkpoint')
            .set(at)
            .where('name', '=', name)
            .where('position', '=', expected)
            .compile();
    // Stored after the work it stands for, which is safe to repeat from an older position.
    const [result] = await this.#database.transaction([{ query }], { durability: 'relaxed' });
    return result!.changes === 1;
  }

  async list(): Promise<readonly StoredPlace[]> {
    const query = this.#database.builder.selectFrom('checkpoint').selectAll().orderBy('name');
    return (await this.#database.read(query)).map(({ name, position, updated_at: updatedAt }) => ({
      name,
      position: position as LogPosition,
      updatedAt,
    }));
  }

  async move(name: string, expected: LogPosition, position: LogPosition | 'start'): Promise<boolean> {
    if (position !== 'start') return this.advance(name, expected, position);
    const query = this.#database.builder
      .deleteFrom('checkpoint')
      .where('name', '=', name)
      .where('position', '=', expected)
      .compile();
    const [result] = await this.#database.transaction([{ query }]);
    return result!.changes === 1;
  }
}

/** The only row. */
const ID = 'sandbox';

/** One row that is compared and set, so that of two moves at once none is lost. */
export class SqlClockOffset implements ClockOffset {
  readonly #database: SqlDatabase;
  readonly #clock: RealClock;

  constructor(database: SqlDatabase, clock: RealClock) {
    this.#database = database;
    this.#clock = clock;
  }

  async read(): Promise<number> {
    const query = this.#database.builder.selectFrom('clock_offset').select('offset_ms').where('id', '=', ID);
    const [row] = await this.#database.read(query);
    return row?.offset_ms ?? 0;
  }

  async replace(from: number, to: number): Promise<boolean> {
    const moved = { offset_ms: to, moved_at: this.#clock.realNow() };
    const { builder } = this.#database;
    const query =
      from === 0
        ? builder
            .insertInto('clock_offset')
            .values({ id: ID, ...moved })
            .onConflict((conflict) => conflict.column('id').doNothing())
        : builder.updateTable('clock_offset').set(moved).where('id', '=', ID).where('offset_ms', '=', from);
    const [result] = await this.#database.transaction([{ query: query.compile() }]);
    return result!.changes === 1;
  }
}
