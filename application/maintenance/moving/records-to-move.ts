import { rawQuery } from '../../sql/engine.ts';
import { sql } from 'kysely';
import type { CompiledQuery } from 'kysely';
import { differingRows } from '../../audit/compare-rows.ts';
import { MoveFailedError } from './log-to-move.ts';
import { retryUntilAvailable } from '../../support/retry.ts';
import type { SqlDatabase } from '../../sql/sql-database.ts';
import { MOVED_TABLES } from './moved-tables.ts';
import type { MovedTable, Row, MovedRows, Value } from './moved-tables.ts';

export interface RecordsToMove {
  readonly source: MovedRows;
  readonly target: SqlDatabase;
}
type Pause = (ms: number) => Promise<void>;
type Done = (rows: number) => void;

const PAGE = 250;

const keyOf = ({ key }: MovedTable, row: Row): readonly Value[] => key.map((column) => row[column]!);

export const countRecords = ({ source }: RecordsToMove): number =>
  MOVED_TABLES.reduce((sum, table) => sum + source.count(table), 0);

function* pagesOf(source: MovedRows) {
  for (const table of MOVED_TABLES)
    for (let after: readonly Value[] | undefined; ;) {
      const rows = source.page(table, after, PAGE);
      yield { table, after, rows };
      const last = rows.at(-1);
      if (!last) break;
      after = keyOf(table, last);
    }
}

export const copyRecords = async (
  { source, target }: RecordsToMove,
  pause: Pause,
  moved: Done,
): Promise<void> => {
  for (const { table, rows } of pagesOf(source)) {
    if (rows.length === 0) continue;
    const query = insertion(target, table, rows);
    await retryUntilAvailable(() => target.transaction([{ query }]), pause);
    moved(rows.length);
  }
};

/** @throws MoveFailedError naming the first row that is not what it was */
export const compareRecords = async (
  { source, target }: RecordsToMove,
  pause: Pause,
  compared: Done,
): Promise<void> => {
  for (const { table, after, rows } of pagesOf(source)) {
    const nameOf = (row: Row): string => JSON.stringify(keyOf(table, row));
    const there = await retryUntilAvailable(() => target.read(selection(target, table, after)), pause);
    for (const { expected, found, columns } of differingRows(nameOf, rows, there)) {
      const key = keyOf(table, (expected ?? found)!).join(', ');
      const one = expected ? 'is missing' : 'is one too many';
      const how = columns.length > 0 ? `differs in ${columns.join(', ')}` : one;
      throw new MoveFailedError(`${table.name} is not what it was: ${key} ${how}`);
    }
    compared(rows.length);
  }
};

/** A row that is there already was stored by the same move before it was interrupted. */
const insertion = ({ builder }: SqlDatabase, { name }: MovedTable, rows: readonly Row[]): CompiledQuery => {
  const columns = Object.keys(rows[0]!);
  const values = rows.map((row) => sql`(${sql.join(columns.map((column) => row[column]))})`);
  return sql`insert into ${sql.table(name)} (${sql.join(columns.map((column) => sql.ref(column)))})
    values ${sql.join(values)} on conflict do nothing`.compile(builder);
};

const selection = (database: SqlDatabase, { name, key }: MovedTable, after: readonly Value[] | undefined) => {
  const columns = sql.join(key.map((column) => sql.ref(column)));
  const where = after === undefined ? sql`` : sql`where (${columns}) > (${sql.join([...after])})`;
  const text = sql<Row>`select * from ${sql.table(name)} ${where} order by ${columns} limit ${sql.lit(PAGE)}`;
  return rawQuery(database, text);
};
