import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { Projection } from '../../../projections/projection.ts';
import { differingRows } from '../../audit/difference.ts';
import type { LogPosition } from '../../ports/event-store.ts';
import type { LogOrder } from '../../ports/read-models.ts';
import { rawQuery } from '../../sql/engine.ts';
import { keyOf, operationColumn } from '../../sql/read-model-tables.ts';
import type { Query, SqlDatabase } from '../../sql/sql-database.ts';
import { placesFrom } from './open-generation.ts';
import type { ProjectionPlace, StoredPlace } from './open-generation.ts';
import type { ReadModelCopy } from './read-model-copy.ts';

export interface RowDifference {
  readonly table: string;
  readonly key: Readonly<Record<string, unknown>>;
  readonly stream: string;
  readonly columns: Readonly<Record<string, { readonly live: unknown; readonly copy: unknown }>>;
  readonly only: 'live' | 'copy' | undefined;
}

type Row = Readonly<Record<string, unknown>>;
type Key = readonly unknown[];

/** Rows in one comparison: small enough to end well within the time that a statement may take. */
const STRETCH = 5_000;

const tuple = (key: Key): RawBuilder<unknown> => sql`(${sql.join([...key])})`;
const columnsOf = (table: string): RawBuilder<unknown> =>
  sql`(${sql.join(keyOf(table).map((column) => sql.ref(column)))})`;

const within = (table: string, after?: Key, upTo?: Key): RawBuilder<unknown> => {
  const columns = columnsOf(table);
  const low = after ? sql`${columns} > ${tuple(after)}` : sql`1 = 1`;
  return upTo ? sql`${low} and ${columns} <= ${tuple(upTo)}` : low;
};

const keyIn = (table: string, row: Row): Key => keyOf(table).map((column) => row[column]);

const differences = (
  table: string,
  { lives, copies }: { readonly lives: readonly Row[]; readonly copies: readonly Row[] },
  streamOf: (row: Row) => string,
): readonly RowDifference[] => {
  const nameOf = (row: Row): string => JSON.stringify(keyIn(table, row));
  return [...differingRows(nameOf, copies, lives)].map(({ expected: copy, found: live, columns }) => {
    const one = (live ?? copy)!;
    return {
      table,
      stream: streamOf(one),
      key: Object.fromEntries(keyOf(table).map((column) => [column, one[column]])),
      columns: Object.fromEntries(
        columns.map((column) => [column, { live: live?.[column], copy: copy?.[column] }]),
      ),
      only: live && copy ? undefined : live ? 'live' : 'copy',
    };
  });
};

interface Schemas {
  readonly live: string;
  readonly copy: string;
}

const streamsOf = async (
  database: SqlDatabase,
  table: string,
  rows: readonly Row[],
  { live, copy }: Schemas,
): Promise<(row: Row) => string> => {
  const column = operationColumn(table);
  if (column !== 'operation' || rows.length === 0) return (row) => String(row['stream']);
  const operations = sql.join([...new Set(rows.map((row) => row[column]))]);
  const of = (schema: string) =>
    sql`select id, stream from ${sql.table(`${schema}.loan`)} where id in (${operations})`;
  const found = await database.read(
    rawQuery(database, sql<{ id: number; stream: string }>`${of(live)} union ${of(copy)}`),
  );
  const streams = new Map(found.map(({ id, stream }) => [id, stream]));
  return (row) => streams.get(Number(row[column])) ?? `operation ${String(row[column])}`;
};

/** Rows that one generation has and the other has not, stretch by stretch along the primary key; the engine compares, and only those travel. */
async function* compareTable(
  database: SqlDatabase,
  table: string,
  schemas: Schemas,
): AsyncGenerator<readonly RowDifference[]> {
  const live = sql.table(`${schemas.live}.${table}`);
  const copy = sql.table(`${schemas.copy}.${table}`);
  const key = keyOf(table);
  const order = sql.join(key.map((column) => sql.ref(column)));
  for (let after: Key | undefined; ;) {
    const bound = sql<Row>`select ${order} from ${live} where ${within(table, after)}
      order by ${order} limit 1 offset ${STRETCH - 1}`;
    const [last] = await database.read(rawQuery(database, bound));
    const upTo = last && keyIn(table, last);
    const range = within(table, after, upTo);
    const missing = (one: RawBuilder<unknown>, other: RawBuilder<unknown>): Query<Row> =>
      rawQuery(
        database,
        sql<Row>`select * from ${one} where ${range} except select * from ${other} where ${range}`,
      );
    const [lives, copies] = await database.snapshot<[Row, Row]>([missing(live, copy), missing(copy, live)]);
    const streamOf = await streamsOf(database, table, [...lives, ...copies], schemas);
    yield differences(table, { lives, copies }, streamOf);
    if (!upTo) return;
    after = upTo;
  }
}

interface RowComparison {
  readonly live: ProjectionPlace | undefined;
  readonly copy: ProjectionPlace | undefined;
  readonly difference: RowDifference | undefined;
}

export class Pair implements AsyncDisposable {
  readonly #database: SqlDatabase;
  readonly #schemas: Schemas;

  constructor(database: SqlDatabase, schemas: Schemas) {
    this.#database = database;
    this.#schemas = schemas;
  }

  /** Stretches of both tables; rows that differ may only have been written in between. */
  async *compare({ tables }: Projection): AsyncGenerator<readonly RowDifference[]> {
    for (const table of tables) yield* compareTable(this.#database, table, this.#schemas);
  }

  /** Both rows and both places as of one moment. */
  async compareRow({ name }: Projection, { table, key, stream }: RowDifference): Promise<RowComparison> {
    const { live, copy } = this.#schemas;
    const values = tuple(keyOf(table).map((column) => key[column]));
    const rowIn = (schema: string): Query<Row> => {
      const text = sql<Row>`select * from ${sql.table(`${schema}.${table}`)} where ${columnsOf(table)} = ${values}`;
      return rawQuery(this.#database, text);
    };
    const [livePlaces, copyPlaces, lives, copies] = await this.#database.snapshot([
      ...([this.#placeIn(live, name), this.#placeIn(copy, name)] as const),
      ...([rowIn(live), rowIn(copy)] as const),
    ]);
    return {
      live: placesFrom(livePlaces).get(name),
      copy: placesFrom(copyPlaces).get(name),
      difference: differences(table, { lives, copies }, () => stream)[0],
    };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#database.close();
  }

  #placeIn(schema: string, name: string): Query<StoredPlace> {
    const table = sql.table(`${schema}.projection_checkpoint`);
    return rawQuery(
      this.#database,
      sql<StoredPlace>`select name, version, position from ${table} where name = ${name}`,
    );
  }
}

interface Comparison {
  readonly projection: Projection;
  readonly pair: Pick<Pair, 'compare' | 'compareRow'>;
  readonly order: Pick<LogOrder, 'compare'>;
  readonly follower: Pick<ReadModelCopy, 'catchUp' | 'lastSeen' | 'place' | 'begun'>;
  /** Whether what is compared with still serves: nothing is written into it once another has succeeded it. */
  readonly serves: () => Promise<boolean>;
  readonly signal: AbortSignal;
  readonly sleep: (ms: number) => Promise<void>;
  readonly onDifference: (difference: RowDifference) => void | Promise<void>;
}

const PAUSE_MS = 50;
/** A projector that is further behind than this stands still; its rows differ for that alone. */
const PATIENCE = 200;

/** Rows depend on the events of their own stream, so they are comparable when none of these lies between both places. */
const comparable = (
  { order, follower }: Comparison,
  stream: string,
  { live, copy }: RowComparison,
): boolean => {
  const [livePlace, copyPlace] = [live?.position ?? 'start', copy?.position ?? 'start'] as const;
  if (livePlace === copyPlace) return true;
  // Another process takes events into it, too.
  if (copyPlace !== follower.place) return false;
  if (order.compare(livePlace, copyPlace) > 0 || order.compare(livePlace, follower.begun) < 0) return false;
  const last = follower.lastSeen(stream);
  return last === undefined || order.compare(last, livePlace) <= 0;
};

/** Where what serves was when it had been waited for in vain: from there it is not waited for again. */
interface Standing {
  at?: LogPosition | 'start';
}

/** Looks again until both generations show the row at the same place in its stream. */
const confirmed = async (
  comparison: Comparison,
  suspect: RowDifference,
  standing: Standing,
): Promise<RowDifference | undefined> => {
  const { pair, follower, projection, serves, signal, sleep } = comparison;
  for (let look = 0; ; look++) {
    const looked = await pair.compareRow(projection, suspect);
    const { difference } = looked;
    if (!difference || !(await serves())) return undefined;
    if (comparable(comparison, suspect.stream, looked)) return difference;
    const livePlace = looked.live?.position ?? 'start';
    if (look === PATIENCE) standing.at = livePlace;
    if (livePlace === standing.at) return difference;
    await follower.catchUp(signal);
    await sleep(PAUSE_MS);
  }
};

/** Compares every row of a projection in both generations as of the same events, and answers how many differ; none any more once another command has let one serve. */
export const compareGenerations = async (comparison: Comparison): Promise<number> => {
  const { projection, pair, follower, onDifference, signal } = comparison;
  const standing: Standing = {};
  let differences = 0;
  for await (const suspects of pair.compare(projection)) {
    signal.throwIfAborted();
    for (const suspect of suspects) {
      const difference = await confirmed(comparison, suspect, standing);
      if (!difference) continue;
      differences += 1;
      await onDifference(difference);
    }
    await follower.catchUp(signal);
  }
  return differences;
};
