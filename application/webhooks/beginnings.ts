import type { LogPosition } from '../ports/event-store.ts';
import type { LogOrder } from '../ports/read-models.ts';
import type { SqlDatabase } from '../sql/sql-database.ts';

const COLUMNS = ['begins_at', 'filter_from'] as const;

/** Where subscriptions begin, and since where they ask for what they ask for; few rows, looked at only when an operator sets places right. */
export class SqlBeginnings {
  readonly #database: SqlDatabase;
  readonly #order: Pick<LogOrder, 'compare' | 'comparable'>;

  constructor(database: SqlDatabase, order: Pick<LogOrder, 'compare' | 'comparable'>) {
    this.#database = database;
    this.#order = order;
  }

  /** Whatever begins behind the end of the log begins there; answers how many that were. */
  async beginWithin(end: LogPosition | 'start'): Promise<number> {
    const { builder } = this.#database;
    const noted = await this.#database.read(
      builder.selectFrom('webhook_subscription').select(['webhook_id', ...COLUMNS]),
    );
    const beyond = noted.flatMap((row) =>
      COLUMNS.filter((column) => this.#isBeyond(row[column], end)).map((column) => ({ row, column })),
    );
    const statements = beyond.map(({ row, column }) => ({
      query: builder
        .updateTable('webhook_subscription')
        .set({ [column]: end })
        .where('webhook_id', '=', row.webhook_id)
        .compile(),
    }));
    if (statements.length > 0) await this.#database.transaction(statements);
    return new Set(beyond.map(({ row }) => row)).size;
  }

  #isBeyond(noted: string | null, end: LogPosition | 'start'): boolean {
    const place = noted as LogPosition | 'start' | null;
    return place !== null && this.#order.comparable(place, end) && this.#order.compare(place, end) > 0;
  }
}
