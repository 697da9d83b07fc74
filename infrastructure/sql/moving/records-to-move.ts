import { sql } from 'kysely';
import type { CompiledQuery } from 'kysely';
import { MoveFailedError } from '../../../application/ports/moving.ts';
import type { CheckpointToMove, RecordsToMove } from '../../../application/ports/moving.ts';
import { retryUntilAvailable } from '../../../application/support/retry.ts';
import type { SqlDatabase } from '../sql-database.ts';
import type { SqlMoveLedger } from './move-ledger.ts';
import { MOVED_TABLES } from './source-file.ts';
import type { MovedTable, Row, SourceFile, Value } from './source-file.ts';

interface Dependencies {
  readonly source: SourceFile;
  readonly target: SqlDatabase;
  readonly ledger: SqlMoveLedger;
  readonly pause: (ms: number) => Promise<void>;
}

const PAGE = 250;

const keyOf = ({ key }: MovedTable, row: Row): readonly Value[] => key.map((column) => row[column]!);

/** Rows of the old service database, page by page into the new one; each page is stored together with how far it brings the move. */
export class SqlRecordsToMove implements RecordsToMove {
  readonly #deps: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
  }

  count(): number {
    return MOVED_TABLES.reduce((sum, table) => sum + this.#deps.source.count(table), 0);
  }

  checkpoints(): readonly CheckpointToMove[] {
    return this.#deps.source.checkpoints();
  }

  async copy(moved: (rows: number) => void): Promise<void> {
    for (const table of MOVED_TABLES) await this.#copyTable(table, moved);
  }

  async compare(compared: (rows: number) => void): Promise<void> {
    for (const table of MOVED_TABLES) await this.#compareTable(table, compared);
  }

  async #copyTable(table: MovedTable, moved: (rows: number) => void): Promise<void> {
    const { source, target, ledger, pause } = this.#deps;
    let after = await ledger.rowsThrough(table.name);
    if (after) moved(source.countThrough(table, after));
    for (;;) {
      const rows = source.page(table, after, PAGE);
      const last = rows.at(-1);
      if (!last) return;
      const through = keyOf(table, last);
      const statements = [
        { query: insertion(target, table, rows) },
        ledger.rowsThroughStatement(table.name, through),
      ];
      await retryUntilAvailable(() => target.transaction(statements), pause);
      moved(rows.length);
      after = through;
    }
  }

  async #compareTable(table: MovedTable, compared: (rows: number) => void): Promise<void> {
    const { source, target, pause } = this.#deps;
    for (let after: readonly Value[] | undefined; ;) {
      const rows = source.page(table, after, PAGE);
      const there = await retryUntilAvailable(() => target.read(selection(target, table, after)), pause);
      const last = rows.at(-1);
      if (!last && there.length === 0) return;
      rows.forEach((row, index) => {
        if (!isSame(row, there[index])) throw differs(table, row);
      });
      if (!last || there.length > rows.length) throw differs(table, there[rows.length]!);
      compared(rows.length);
      after = keyOf(table, last);
    }
  }
}

const isSame = (row: Row, other: Row | undefined): boolean =>
  other !== undefined &&
  Object.keys(other).length === Object.keys(row).length &&
  Object.entries(row).every(([column, value]) => other[column] === value);

const differs = (table: MovedTable, row: Row): MoveFailedError =>
  new MoveFailedError(`${table.name} is not what it was: ${keyOf(table, row).join(', ')}`);

/** A row that is there already was stored by the same move before it was interrupted. */
const insertion = ({ builder }: SqlDatabase, { name }: MovedTable, rows: readonly Row[]): CompiledQuery => {
  const columns = Object.keys(rows[0]!);
  const values = rows.map((row) => sql`(${sql.join(columns.map((column) => row[column]))})`);
  return sql`insert into ${sql.table(name)} (${sql.join(columns.map((column) => sql.ref(column)))})
    values ${sql.join(values)} on conflict do nothing`.compile(builder);
};

const selection = (
  { builder }: SqlDatabase,
  { name, key }: MovedTable,
  after: readonly Value[] | undefined,
) => {
  const columns = sql.join(key.map((column) => sql.ref(column)));
  const where = after === undefined ? sql`` : sql`where (${columns}) > (${sql.join([...after])})`;
  const text = sql<Row>`select * from ${sql.table(name)} ${where} order by ${columns} limit ${sql.lit(PAGE)}`;
  return { compile: () => text.compile(builder) };
};
