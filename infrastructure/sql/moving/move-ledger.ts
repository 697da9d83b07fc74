import { sql } from 'kysely';
import type { RealClock } from '../../../application/ports/clock.ts';
import { MoveFailedError } from '../../../application/ports/moving.ts';
import type { CheckpointToMove, MoveLedger } from '../../../application/ports/moving.ts';
import type { SqlDatabase, Statement } from '../sql-database.ts';
import { TELLTALE_TABLES } from './source-file.ts';
import type { Value } from './source-file.ts';

/** Of what a service is moved by, in the database that it is moved into. */
export interface MoveRecord {
  /** The same in the data directory that is left behind. */
  readonly id: string;
  readonly begunAt: string;
  readonly finishedAt: string | null;
}

const MOVE = 'move';
const EVENTS = 'events';
const tableEntry = (table: string): string => `table ${table}`;

type Reader = Pick<SqlDatabase, 'builder' | 'read'>;

const readEntry = async (database: Reader, name: string): Promise<string | undefined> => {
  const query = database.builder.selectFrom('move_progress').select('value').where('name', '=', name);
  return (await database.read(query))[0]?.value;
};

/** The move into this database; undefined where there never was one. */
export const readMove = async (database: Reader): Promise<MoveRecord | undefined> => {
  const value = await readEntry(database, MOVE);
  return value === undefined ? undefined : (JSON.parse(value) as MoveRecord);
};

/** @throws MoveFailedError a service has used this database */
export const ensureUnused = async (database: SqlDatabase): Promise<void> => {
  for (const table of TELLTALE_TABLES) {
    const text = sql<{ one: number }>`select 1 as one from ${sql.table(table)} limit 1`;
    const rows = await database.read({ compile: () => text.compile(database.builder) });
    if (rows.length > 0)
      throw new MoveFailedError(`the database holds other data (in ${table}): move into an empty one`);
  }
};

export class SqlMoveLedger implements MoveLedger {
  readonly #database: SqlDatabase;
  readonly #clock: RealClock;

  constructor(database: SqlDatabase, clock: RealClock) {
    this.#database = database;
    this.#clock = clock;
  }

  /** @throws ConstraintError another move has begun here */
  async begin(id: string): Promise<void> {
    const record: MoveRecord = { id, begunAt: this.#clock.realNow(), finishedAt: null };
    const query = this.#database.builder
      .insertInto('move_progress')
      .values({ name: MOVE, value: JSON.stringify(record) });
    await this.#database.transaction([{ query: query.compile() }]);
  }

  async eventsThrough(): Promise<number> {
    return Number((await readEntry(this.#database, EVENTS)) ?? 0);
  }

  async noteEvents(through: number): Promise<void> {
    await this.#database.transaction([this.#entry(EVENTS, String(through))]);
  }

  /** Key of the last row of this table that is stored; undefined before the first. */
  async rowsThrough(table: string): Promise<readonly Value[] | undefined> {
    const value = await readEntry(this.#database, tableEntry(table));
    return value === undefined ? undefined : (JSON.parse(value) as readonly Value[]);
  }

  /** To be stored in the transaction of the rows. */
  rowsThroughStatement(table: string, key: readonly Value[]): Statement {
    return this.#entry(tableEntry(table), JSON.stringify(key));
  }

  async finish(checkpoints: readonly CheckpointToMove[]): Promise<void> {
    const move = await readMove(this.#database);
    const now = this.#clock.realNow();
    const places = checkpoints.map(({ name, position }) => ({
      query: this.#database.builder
        .insertInto('checkpoint')
        .values({ name, position, updated_at: now })
        .onConflict((conflict) => conflict.column('name').doUpdateSet({ position, updated_at: now }))
        .compile(),
    }));
    const finished = this.#entry(MOVE, JSON.stringify({ ...move, finishedAt: now }));
    await this.#database.transaction([...places, finished]);
  }

  #entry(name: string, value: string): Statement {
    const query = this.#database.builder
      .insertInto('move_progress')
      .values({ name, value })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }));
    return { query: query.compile() };
  }
}
