import { sql } from 'kysely';
import type { CompiledQuery } from 'kysely';
import { differingRows } from '../../audit/compare-rows.ts';
import { MoveFailedError } from './log-to-move.ts';
import type { PlacesToMove } from './log-to-move.ts';
import { retryUntilAvailable } from '../../support/retry.ts';
import type { SqlDatabase } from '../../sql/sql-database.ts';
import { MOVED_TABLES } from './moved-tables.ts';
import type { MovedTable, Row, MovedRows, Value } from './moved-tables.ts';

interface Dependencies {
  readonly source: MovedRows;
  readonly target: SqlDatabase;
  readonly pause: (ms: number) => Promise<void>;
}

const PAGE = 250;

const keyOf = ({ key }: MovedTable, row: Row): readonly Value[] => key.map((column) => row[column]!);

/** Rows of the old service database, page by page into the new one. */
export class RecordsToMove {
  readonly #deps: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
  }

  count(): number {
    return MOVED_TABLES.reduce((sum, table) => sum + this.#deps.source.count(table), 0);
  }

  places(): PlacesToMove {
    const { source } = this.#deps;
    return { checkpoints: source.checkpoints(), subscriptions: source.subscriptionPlaces() };
  }

  async copy(moved: (rows: number) => void): Promise<void> {
    for (const table of MOVED_TABLES) await this.#copyTable(table, moved);
  }

  async compare(compared: (rows: number) => void): Promise<void> {
    for (const table of MOVED_TABLES) await this.#compareTable(table, compared);
  }

  async #copyTable(table: MovedTable, moved: (rows: number) => void): Promise<void> {
    const { source, target, pause } = this.#deps;
    for (let after: readonly Value[] | undefined; ;) {
      const rows = source.page(table, after, PAGE);
      const last = rows.at(-1);
      if (!last) return;
      const query = insertion(target, table, rows);
      await retryUntilAvailable(() => target.transaction([{ query }]), pause);
      moved(rows.length);
      after = keyOf(table, last);
    }
  }

  async #compareTable(table: MovedTable, compared: (rows: number) => void): Promise<void> {
    const { source, target, pause } = this.#deps;
    const nameOf = (row: Row): string => JSON.stringify(keyOf(table, row));
    for (let after: readonly Value[] | undefined; ;) {
      const rows = source.page(table, after, PAGE);
      const there = await retryUntilAvailable(() => target.read(selection(target, table, after)), pause);
      for (const { expected, found, columns } of differingRows(nameOf, rows, there)) {
        const key = keyOf(table, (expected ?? found)!).join(', ');
        const how =
          columns.length > 0
            ? `differs in ${columns.join(', ')}`
            : expected
              ? 'is missing'
              : 'is one too many';
        throw new MoveFailedError(`${table.name} is not what it was: ${key} ${how}`);
      }
      const last = rows.at(-1);
      if (!last) return;
      compared(rows.length);
      after = keyOf(table, last);
    }
  }
}

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
