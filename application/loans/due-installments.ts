import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { CalendarDate } from '../../domain/shared/calendar-date.ts';
import type { Schema } from '../sql/schema.ts';
import type { SqlDatabase } from '../sql/sql-database.ts';

export interface DueInstallment {
  readonly stream: string;
  readonly code: string;
  readonly dueDate: CalendarDate;
}

/**
 * Pending installments of active operations that were due before `today`, the oldest first; `stream` is their operation's.
 * The literal repeats what the index is restricted to: with a parameter in its place no engine would use it. The index
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
    .innerJoin('loan', 'loan.id', 'installment.operation')
    .select(['loan.stream', 'installment.code', 'installment.due_date'])
    .where('installment.status', '=', sql.lit('pending'))
    .where('loan.active_at', 'is not', null)
    .where('installment.due_date', '<', today);
  if (after) {
    const operation = builder.selectFrom('loan').select('id').where('stream', '=', after.stream);
    due = due.where(
      sql<boolean>`(installment.due_date, installment.operation, installment.code) > (${after.dueDate}, (${operation}), ${after.code})`,
    );
  }
  return due
    .orderBy('installment.due_date')
    .orderBy('installment.operation')
    .orderBy('installment.code')
    .limit(limit);
};

/**
 * What the read model knows to be due before `today`, by due date, at most `limit`; those that follow `after`, which need not be there any
 * more. It may lag behind the streams, so an answer is a hint: the operation itself decides. Costs grow with what is due, not with what is
 * open.
 */
export const dueBefore = async (
  database: SqlDatabase,
  today: CalendarDate,
  limit: number,
  after?: DueInstallment,
): Promise<readonly DueInstallment[]> => {
  const rows = await database.read(dueInstallments(database.builder, today, limit, after));
  return rows.map(({ due_date: dueDate, ...row }) => ({ ...row, dueDate: dueDate as CalendarDate }));
};
