import { sql } from 'kysely';
import { LOAN_STATUSES, owesSchedule } from '../../domain/loan/statuses.ts';
import { daysBetween } from '../../domain/shared/calendar-date.ts';
import type { CalendarDate } from '../../domain/shared/calendar-date.ts';
import type { SqlDatabase } from '../sql/sql-database.ts';
import type { LoanSummary } from './loan-page.ts';

/** In any other state nothing is owed, so nothing is late, whatever was overdue before. */
export const OWING: readonly string[] = LOAN_STATUSES.filter(owesSchedule);

/** How late an operation is; null where nothing of it is overdue. */
interface Lateness {
  readonly days_late: number | null;
  /** Face values in cents, without what prepayments left on them. */
  readonly overdue_value: number | null;
}
export type LoanRow = LoanSummary & Lateness;

/** A literal, as in the condition of the index. */
export const OVERDUE = sql.lit('overdue');

/** Of operations with something overdue: since when, and how much. The index of what is overdue has them one after the other. */
export const overdueSums = ({ builder }: SqlDatabase) =>
  builder
    .selectFrom('installment')
    .select((eb) => [
      'installment.operation',
      eb.fn.min<string>('installment.due_date').as('since'),
      eb.cast<number>(eb.fn.sum('installment.face_value'), 'bigint').as('value'),
    ])
    .where('installment.status', '=', OVERDUE)
    .groupBy('installment.operation');

/** @param rows at most 1,000 */
export const withLateness = async <Row extends LoanSummary>(
  database: SqlDatabase,
  today: CalendarDate,
  rows: readonly Row[],
): Promise<readonly (Row & Lateness)[]> => {
  const streams = rows.filter(({ status }) => OWING.includes(status)).map(({ stream }) => stream);
  const sums =
    streams.length === 0
      ? []
      : await database.read(
          overdueSums(database)
            .innerJoin('loan', 'loan.id', 'installment.operation')
            .select('loan.stream')
            .where('loan.stream', 'in', streams)
            .groupBy('loan.stream'),
        );
  const late = new Map(sums.map((one) => [one.stream, one]));
  return rows.map((row) => {
    const sum = late.get(row.stream);
    if (sum === undefined) return { ...row, days_late: null, overdue_value: null };
    const days = daysBetween(sum.since as CalendarDate, today);
    return { ...row, days_late: Math.max(0, days), overdue_value: sum.value };
  });
};
