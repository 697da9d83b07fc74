import type { ExpressionBuilder, Kysely } from 'kysely';
import type { Schema } from './schema.ts';
import { GuardFailedError } from './sql-database.ts';
import type { Query, SqlDatabase, TransactionOptions } from './sql-database.ts';

type AnyRow = Readonly<Record<string, string | number | null>>;
type AnyTables = Readonly<Record<string, AnyRow>>;

/** One row: what it is found by, what it is expected to hold and what it holds from then on; one of them undefined: there is no row. */
interface RowChange<Row> {
  readonly key: Partial<Row>;
  readonly from: Partial<Row> | undefined;
  readonly to: Partial<Row> | undefined;
}

/** Changes the row, or none where it is another by now. */
export const compareAndSet = <Table extends keyof Schema>(
  builder: Kysely<Schema>,
  table: Table,
  change: RowChange<Schema[Table]>,
): Query<unknown> => changeOf(builder as unknown as Kysely<AnyTables>, table, change);

const changeOf = (
  builder: Kysely<AnyTables>,
  table: string,
  { key, from, to }: RowChange<AnyRow>,
): Query<unknown> => {
  if (!from) {
    const insert = builder.insertInto(table).values({ ...key, ...to });
    return insert.onConflict((conflict) => conflict.columns(Object.keys(key)).doNothing());
  }
  const expected = (eb: ExpressionBuilder<AnyTables, string>) =>
    eb.and(
      Object.entries({ ...key, ...from } as AnyRow).map(([name, value]) =>
        eb(name, value === null ? 'is' : '=', value),
      ),
    );
  return to ? builder.updateTable(table).set(to).where(expected) : builder.deleteFrom(table).where(expected);
};

/** Changes a row in a transaction of its own; false where the row no longer reads as expected. */
export const changeRow = async <Table extends keyof Schema>(
  database: SqlDatabase,
  table: Table,
  change: RowChange<Schema[Table]>,
  options?: TransactionOptions,
): Promise<boolean> => {
  const query = compareAndSet(database.builder, table, change).compile();
  const [result] = await database.transaction([{ query }], options);
  return result!.changes === 1;
};

/** False when a statement of the transaction did not change as many rows as it expects. */
export const guarded = async (transaction: Promise<unknown>): Promise<boolean> => {
  try {
    await transaction;
    return true;
  } catch (error) {
    if (error instanceof GuardFailedError) return false;
    throw error;
  }
};
