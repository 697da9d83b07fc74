import { sql } from 'kysely';
import type { AuditedRows, PaymentPlace } from '../../../application/ports/audit.ts';
import type { Row } from '../../../projections/projection.ts';
import { READ_MODEL_NAMES, keyOf } from '../schema.ts';
import type { Query, SqlDatabase } from '../sql-database.ts';

/** The one table that lies by date, so that its rows are asked for by their places. */
const PAYMENTS = 'notified_payment';
/** Three parameters each, well below what any engine takes in one statement. */
const PLACES_AT_ONCE = 2_000;

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
    const [row] = await this.#database.read(
      this.#database.builder
        .selectFrom('loan')
        .select((eb) => [
          eb.fn.sum<number | string>('version').as('versions'),
          eb.fn.countAll<number | string>().as('loans'),
        ]),
    );
    return Number(row?.versions ?? 0) + Number(row?.loans ?? 0);
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
