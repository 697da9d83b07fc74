import { sql } from 'kysely';
import type { AuditedRows, PaymentPlace } from '../../../application/ports/audit.ts';
import type { Row } from '../../../projections/projection.ts';
import { READ_MODEL_NAMES, keyOf } from '../schema.ts';
import type { Query, SqlDatabase } from '../sql-database.ts';

/** The one table that lies by date, so that its rows are asked for by their places. */
const PAYMENTS = 'notified_payment';
/** Three parameters each, well below what any engine takes in one statement. */
const PLACES_AT_ONCE = 2_000;

/** Operations whose events are added up for a progress bar; from there on it is an estimate. */
const COUNTED_ONE_BY_ONE = 100_000;

interface Counted {
  readonly stream: string;
  readonly rows: number | string;
}

const piecesOf = <T>(items: readonly T[], size: number): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size));

/** The read models' rows, for an audit. */
export class SqlAuditedRows implements AuditedRows {
  readonly #database: SqlDatabase;
  readonly tables = READ_MODEL_NAMES;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  keyOf(table: string): readonly string[] {
    return keyOf(table);
  }

  async rowsOf(
    streams: readonly string[],
    payments: readonly PaymentPlace[],
  ): Promise<ReadonlyMap<string, readonly Row[]>> {
    const asked = this.tables.flatMap((table) =>
      table === PAYMENTS
        ? piecesOf(payments, PLACES_AT_ONCE).map((places) => ({ table, query: this.#payments(places) }))
        : [{ table, query: this.#rows(table, streams) }],
    );
    const answers = await this.#database.snapshot<Row[][]>(asked.map(({ query }) => query));
    const rows = new Map<string, Row[]>();
    asked.forEach(({ table }, index) => {
      const found = (answers[index] ?? []) as unknown as readonly Row[];
      rows.set(table, [...(rows.get(table) ?? []), ...found]);
    });
    return rows;
  }

  async countEvents(): Promise<number> {
    const { builder } = this.#database;
    const some = builder.selectFrom('loan').select('version').limit(COUNTED_ONE_BY_ONE).as('some');
    const [row] = await this.#database.read(
      builder
        .selectFrom(some)
        .select((eb) => [
          eb.fn.sum<number | string>('version').as('versions'),
          eb.fn.countAll<number | string>().as('loans'),
        ]),
    );
    const [loans, versions] = [Number(row?.loans ?? 0), Number(row?.versions ?? 0)];
    const all = loans < COUNTED_ONE_BY_ONE ? loans : Math.max(loans, await this.#estimatedLoans());
    return loans === 0 ? 0 : Math.round(((versions + loans) / loans) * all);
  }

  /** From what the engine keeps about its tables: counting them takes as long as reading them. */
  async #estimatedLoans(): Promise<number> {
    const query =
      this.#database.dialect === 'postgres'
        ? sql<{ rows: number }>`select reltuples as rows from pg_class where oid = to_regclass('loan')`
        : sql<{ rows: number }>`select coalesce(max(rowid), 0) as rows from loan`;
    const [row] = await this.#database.read<{ rows: number }>({
      compile: () => query.compile(this.#database.builder),
    });
    return Number(row?.rows ?? 0);
  }

  async operationsIn(
    table: string,
    after: string,
    limit: number,
  ): Promise<readonly { readonly stream: string; readonly rows: number }[]> {
    const query = sql<Counted>`select stream, count(*) as rows from ${sql.table(table)}
      where stream > ${after} group by stream order by stream limit ${limit}`;
    const rows = await this.#database.read<Counted>({ compile: () => query.compile(this.#database.builder) });
    return rows.map(({ stream, rows: count }) => ({ stream, rows: Number(count) }));
  }

  #rows(table: string, streams: readonly string[]): Query<Row> {
    const query = sql<Row>`select * from ${sql.table(table)} where stream in (${sql.join(streams)})`;
    return { compile: () => query.compile(this.#database.builder) };
  }

  #payments(places: readonly PaymentPlace[]): Query<Row> {
    const wanted = places.map(({ date, stream, revision }) =>
      this.#database.dialect === 'postgres'
        ? sql`(${date}::text, ${stream}::text, ${revision}::bigint)`
        : sql`(${date}, ${stream}, ${revision})`,
    );
    const query = sql<Row>`select * from ${sql.table(PAYMENTS)}
      where (date, stream, revision) in (values ${sql.join(wanted)})`;
    return { compile: () => query.compile(this.#database.builder) };
  }
}
