import type { LogPosition } from '../ports/event-store.ts';
import type { LogOrder } from '../ports/read-models.ts';
import type { SqlDatabase } from '../sql/sql-database.ts';

const COLUMNS = ['begins_at', 'filter_from'] as const;

/** Answers how many subscriptions had a place behind the end of the log, which is their place now. */
export const beginWithin = async (
  database: SqlDatabase,
  order: Pick<LogOrder, 'compare' | 'comparable'>,
  end: LogPosition | 'start',
): Promise<number> => {
  const { builder } = database;
  const isBeyond = (noted: string | null): boolean => {
    const place = noted as LogPosition | 'start' | null;
    return place !== null && order.comparable(place, end) && order.compare(place, end) > 0;
  };
  const noted = await database.read(
    builder.selectFrom('webhook_subscription').select(['webhook_id', ...COLUMNS]),
  );
  const beyond = noted.flatMap((row) =>
    COLUMNS.filter((column) => isBeyond(row[column])).map((column) => ({ row, column })),
  );
  const statements = beyond.map(({ row, column }) => ({
    query: builder
      .updateTable('webhook_subscription')
      .set({ [column]: end })
      .where('webhook_id', '=', row.webhook_id)
      .compile(),
  }));
  if (statements.length > 0) await database.transaction(statements);
  return new Set(beyond.map(({ row }) => row)).size;
};
