import { rawQuery } from '../sql/engine.ts';
import { sql } from 'kysely';
import { isPlaced } from '../projecting/stored-rows.ts';
import type { Rows } from './compare-derived.ts';
import type { Row } from '../../projections/projection.ts';
import { READ_MODEL_NAMES, keyOf, operationColumn } from '../sql/read-model-tables.ts';
import type { Query, SqlDatabase } from '../sql/sql-database.ts';

/** Four parameters each, well below what any engine takes in one statement. */
const PLACES_AT_ONCE = 2_000;

/** Operations whose events are added up for a progress bar; from there on it is an estimate. */
const COUNTED_ONE_BY_ONE = 100_000;

interface Counted {
  readonly place: number | string;
  readonly stream: string | null;
  readonly rows: number;
}

const NO_OPERATION = 'operation';

const piecesOf = <T>(items: readonly T[], size: number): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size));

type OperationRows = ReadonlyMap<string, ReadonlyMap<string, readonly Row[]>>;

export class SqlAuditedRows {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  /** All rows of these operations, in one snapshot; of tables that do not lie by operation only where they are expected. */
  async rowsOf(streams: readonly string[], expected: readonly Rows[]): Promise<OperationRows> {
    const asked = READ_MODEL_NAMES.flatMap((table) =>
      isPlaced(table)
        ? piecesOf(
            expected.flatMap((rows) => rows.get(table) ?? []),
            PLACES_AT_ONCE,
          ).map((rows) => ({ table, query: this.#placed(table, rows) }))
        : [{ table, query: this.#rows(table, streams) }],
    );
    const answers = (await this.#database.snapshot<Row[][]>(
      asked.map(({ query }) => query),
    )) as unknown as readonly (readonly Row[])[];
    const found = asked.map(({ table }, index) => ({ table, rows: answers[index] ?? [] }));
    const loans = found.find(({ table }) => table === 'loan')?.rows ?? [];
    const streamOf = new Map(loans.map(({ id, stream }) => [id!, String(stream)]));
    const byTable = new Map<string, Map<string, Row[]>>();
    for (const { table, rows } of found) {
      const byStream = byTable.get(table) ?? new Map<string, Row[]>();
      byTable.set(table, byStream);
      for (const row of rows) {
        const stream = row['stream'] ?? streamOf.get(row['operation']!);
        if (stream === undefined) continue;
        const of = byStream.get(String(stream));
        if (of) of.push(row);
        else byStream.set(String(stream), [row]);
      }
    }
    return byTable;
  }

  async countEvents(): Promise<number> {
    const { builder } = this.#database;
    const some = builder.selectFrom('progress').select('version').limit(COUNTED_ONE_BY_ONE).as('some');
    const [row] = await this.#database.read(
      builder
        .selectFrom(some)
        .select((eb) => [
          eb.fn.sum<number | null>('version').as('versions'),
          eb.fn.countAll<number>().as('loans'),
        ]),
    );
    const { loans, versions } = row!;
    const all = loans < COUNTED_ONE_BY_ONE ? loans : Math.max(loans, await this.#estimatedLoans());
    return loans === 0 ? 0 : Math.round(((versions! + loans) / loans) * all);
  }

  async #estimatedLoans(): Promise<number> {
    const query =
      this.#database.dialect === 'postgres'
        ? sql<{ rows: number }>`select reltuples as rows from pg_class where oid = to_regclass('progress')`
        : sql<{ rows: number }>`select count(*) as rows from progress`;
    const [row] = await this.#database.read(rawQuery(this.#database, query));
    return row?.rows ?? 0;
  }

  async operationsIn(table: string, after: string | number | undefined, limit: number) {
    const column = operationColumn(table);
    const place = sql.ref(`rows.${column}`);
    const stream = column === 'stream' ? place : sql`(select loan.stream from loan where loan.id = ${place})`;
    const from = after === undefined ? sql`1 = 1` : sql`${place} > ${after}`;
    const query = sql<Counted>`select ${place} as place, ${stream} as stream, count(*) as rows
      from ${sql.table(table)} as rows where ${from} group by ${place} order by ${place} limit ${limit}`;
    const rows = await this.#database.read(rawQuery(this.#database, query));
    return rows.map((row) => ({
      ...row,
      stream: row.stream ?? `${NO_OPERATION} ${row.place}`,
    }));
  }

  #rows(table: string, streams: readonly string[]): Query<Row> {
    const operations =
      operationColumn(table) === 'operation'
        ? sql`operation in (select id from loan where stream in (${sql.join(streams)}))`
        : sql`stream in (${sql.join(streams)})`;
    const query = sql<Row>`select * from ${sql.table(table)} where ${operations}`;
    return rawQuery(this.#database, query);
  }

  #placed(table: string, rows: readonly Row[]): Query<Row> {
    const key = keyOf(table);
    const value = (given: unknown) =>
      this.#database.dialect === 'sqlite'
        ? sql`${given}`
        : typeof given === 'number'
          ? sql`${given}::bigint`
          : sql`${given}::text`;
    const wanted = rows.map((row) => sql`(${sql.join(key.map((column) => value(row[column] ?? '')))})`);
    const query = sql<Row>`select * from ${sql.table(table)}
      where (${sql.join(key.map((column) => sql.ref(column)))}) in (values ${sql.join(wanted)})`;
    return rawQuery(this.#database, query);
  }
}
