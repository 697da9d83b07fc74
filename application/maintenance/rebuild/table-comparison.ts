import { rawQuery } from '../../sql/engine.ts';
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import { differingRows } from '../../audit/compare-rows.ts';
import { keyOf, operationColumn } from '../../sql/read-model-tables.ts';
import type { Query, SqlDatabase } from '../../sql/sql-database.ts';

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

export interface Schemas {
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
export async function* compareTable(
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

export const rowDifference = (
  database: Pick<SqlDatabase, 'builder'>,
  { table, key, stream }: RowDifference,
  schemas: Schemas,
) => {
  const columns = columnsOf(table);
  const of = (schema: string): Query<Row> =>
    rawQuery(
      database,
      sql<Row>`select * from ${sql.table(`${schema}.${table}`)}
        where ${columns} = ${tuple(keyOf(table).map((column) => key[column]))}`,
    );
  return {
    queries: [of(schemas.live), of(schemas.copy)] as const,
    differenceOf: (lives: readonly Row[], copies: readonly Row[]): RowDifference | undefined =>
      differences(table, { lives, copies }, () => stream)[0],
  };
};
