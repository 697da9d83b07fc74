import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { DueInstallment, DueInstallments } from '../../../application/ports/loan-queries.ts';
import type { CalendarDate } from '../../../domain/shared/calendar-date.ts';
import type { Schema } from '../schema.ts';
import type { SqlDatabase } from '../sql-database.ts';

/**
 * Pending installments of active operations that were due before `today`, the oldest first; `stream` is their operation's.
 * The two literals repeat what the index is restricted to: with parameters in their place no engine would use it. The index
 * ends in the table's own key, so that pages follow it without sorting.
 */
export const dueInstallments = (
  builder: Kysely<Schema>,
  today: CalendarDate,
  limit: number,
  after?: DueInstallment,
) => {
  let due = builder
    .selectFrom('installment')
    .select(['stream', 'code', 'due_date'])
    .where('payable', '=', sql.lit(1))
    .where('status', '=', sql.lit('pending'))
    .where('due_date', '<', today);
  if (after) {
    due = due.where((eb) =>
      eb(eb.refTuple('due_date', 'stream', 'code'), '>', eb.tuple(after.dueDate, after.stream, after.code)),
    );
  }
  return due.orderBy('due_date').orderBy('stream').orderBy('code').limit(limit);
};

export class SqlDueInstallments implements DueInstallments {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  async dueBefore(
    today: CalendarDate,
    limit: number,
    after?: DueInstallment,
  ): Promise<readonly DueInstallment[]> {
    const rows = await this.#database.read(dueInstallments(this.#database.builder, today, limit, after));
    return rows.map((row) => ({ stream: row.stream, code: row.code, dueDate: row.due_date as CalendarDate }));
  }
}
