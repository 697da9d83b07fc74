import { sql } from 'kysely';
import type { Kysely, RawBuilder } from 'kysely';
import { differingRows } from '../../../application/audit/compare-rows.ts';
import type { RowDifference } from '../../../application/ports/read-models.ts';
import { keyOf } from '../schema.ts';
import type { Schema } from '../schema.ts';
import type { Query, SqlDatabase } from '../sql-database.ts';

type Row = Readonly<Record<string, unknown>>;
type Key = readonly unknown[];

/** Rows in one comparison: small enough to end well within the time that a statement may take. */
const STRETCH = 5_000;

const compiled = <R>(builder: Kysely<Schema>, text: RawBuilder<R>): Query<R> => ({
  compile: () => text.compile(builder),
});

const tuple = (key: Key): RawBuilder<unknown> => sql`(${sql.join([...key])})`;
const columnsOf = (table: string): RawBuilder<unknown> =>
  sql`(${sql.join(keyOf(table).map((column) => sql.ref(column)))})`;

const within = (table: string, after?: Key, upTo?: Key): RawBuilder<unknown> => {
  const columns = columnsOf(table);
  const low = after ? sql`${columns} > ${tuple(after)}` : sql`1 = 1`;
  return upTo ? sql`${low} and ${columns} <= ${tuple(upTo)}` : low;
};

const keyIn = (table: string, row: Row): Key => keyOf(table).map((column) => row[column]);

/** What both generations hold of a stretch, compared. */
const differences = (
  table: string,
  lives: readonly Row[],
  copies: readonly Row[],
): readonly RowDifference[] => {
  const nameOf = (row: Row): string => JSON.stringify(keyIn(table, row));
  return [...differingRows(nameOf, copies, lives)].map(({ expected: copy, found: live, columns }) => {
    const one = (live ?? copy)!;
    return {
      table,
      stream: String(one['stream']),
      key: Object.fromEntries(keyOf(table).map((column) => [column, one[column]])),
      columns: Object.fromEntries(
        columns.map((column) => [column, { live: live?.[column], copy: copy?.[column] }]),
      ),
      only: live && copy ? undefined : live ? 'live' : 'copy',
    };
  });
};

/** The schemas of two generations on one connection. */
export interface Schemas {
  readonly live: string;
  readonly copy: string;
}

/** Rows that one generation has and the other has not, stretch by stretch along the primary key; the engine compares, and only those travel. */
export async function* compareTable(
  database: SqlDatabase,
  table: string,
  schemas: Schemas,
): AsyncGenerator<readonly RowDifference[]> {
  const { builder } = database;
  const live = sql.table(`${schemas.live}.${table}`);
  const copy = sql.table(`${schemas.copy}.${table}`);
  const key = keyOf(table);
  const order = sql.join(key.map((column) => sql.ref(column)));
  for (let after: Key | undefined; ;) {
    const bound = sql<Row>`select ${order} from ${live} where ${within(table, after)}
      order by ${order} limit 1 offset ${STRETCH - 1}`;
    const [last] = await database.read(compiled(builder, bound));
    const upTo = last && keyIn(table, last);
    const range = within(table, after, upTo);
    const missing = (one: RawBuilder<unknown>, other: RawBuilder<unknown>): Query<Row> =>
      compiled(
        builder,
        sql<Row>`select * from ${one} where ${range} except select * from ${other} where ${range}`,
      );
    const [lives, copies] = await database.snapshot<[Row, Row]>([missing(live, copy), missing(copy, live)]);
    yield differences(table, lives, copies);
    if (!upTo) return;
    after = upTo;
  }
}

/** One row as both generations have it. */
export const rowDifference = (builder: Kysely<Schema>, { table, key }: RowDifference, schemas: Schemas) => {
  const columns = columnsOf(table);
  const of = (schema: string): Query<Row> =>
    compiled(
      builder,
      sql<Row>`select * from ${sql.table(`${schema}.${table}`)}
        where ${columns} = ${tuple(keyOf(table).map((column) => key[column]))}`,
    );
  return {
    queries: [of(schemas.live), of(schemas.copy)] as const,
    differenceOf: (lives: readonly Row[], copies: readonly Row[]): RowDifference | undefined =>
      differences(table, lives, copies)[0],
  };
};
