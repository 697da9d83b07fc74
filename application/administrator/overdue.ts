import type { OperationPlace } from '../command-handling/operation.ts';
import { sql } from 'kysely';
import { addDays, daysBetween } from '../../domain/shared/calendar-date.ts';
import type { CalendarDate } from '../../domain/shared/calendar-date.ts';
import { OWING, overdueSums } from '../loans/late-operations.ts';
import type { Query, SqlDatabase } from '../sql/sql-database.ts';

/** Days past the due date from which each band begins; the last one has no end. */
const BANDS = [1, 31, 61, 91, 181] as const;
const MOST_NAMED = 5;

/** Operations by how late the oldest of their overdue installments is. Face values in cents, without what prepayments left on them. */
interface OverdueBand {
  readonly from: number;
  /** Null for the band without an end. */
  readonly to: number | null;
  readonly operations: number;
  readonly installments: number;
  readonly faceValue: number;
}

interface OverdueOperation extends OperationPlace {
  readonly fundId: string;
  readonly days: number;
  readonly installments: number;
  readonly faceValue: number;
}

export interface Overdue {
  readonly bands: readonly OverdueBand[];
  /** Late for longest; where several are, those that owe most. */
  readonly worst: readonly OverdueOperation[];
}

interface Row {
  readonly days_from: number;
  readonly operations: number;
  readonly installments: number;
  readonly face_value: number;
  readonly application_id: string | null;
  readonly code: string | null;
  readonly fund_id: string;
  readonly since: string;
}

const endOf = (from: number): number | null => {
  const next = BANDS.find((one) => one > from);
  return next === undefined ? null : next - 1;
};

const late = (database: SqlDatabase, fundIds: readonly string[] | undefined, today: CalendarDate) => {
  const owed = overdueSums(database).select((eb) => eb.fn.countAll<number>().as('installments'));
  const bands = BANDS.slice(1).toReversed();
  const from = sql<number>`case ${sql.join(
    bands.map((days) => sql`when owed.since <= ${addDays(today, -days)} then ${sql.lit(days)}`),
    sql` `,
  )} else ${sql.lit(BANDS[0])} end`;
  return database.builder
    .selectFrom(owed.as('owed'))
    .innerJoin('loan', 'loan.id', 'owed.operation')
    .where('loan.status', 'in', OWING)
    .$if(fundIds !== undefined, (q) => q.where('loan.fund_id', 'in', fundIds!))
    .select(['owed.installments', 'owed.value as face_value', 'owed.since', from.as('days_from')])
    .select(['loan.application_id', 'loan.code', 'loan.fund_id']);
};

const nothing = (name: string) => sql<string | null>`cast(null as text)`.as(name);

const query = (
  database: SqlDatabase,
  fundIds: readonly string[] | undefined,
  today: CalendarDate,
): Query<Row> => {
  const from = database.builder.with(
    (cte) => cte('late').materialized(),
    () => late(database, fundIds, today),
  );
  const bands = from
    .selectFrom('late')
    .select((eb) => [
      'days_from',
      eb.fn.countAll<number>().as('operations'),
      eb.fn.sum<number>('installments').as('installments'),
      eb.fn.sum<number>('face_value').as('face_value'),
    ])
    .select(['application_id', 'code', 'fund_id', 'since'].map(nothing))
    .groupBy('days_from');
  const all = bands.unionAll((eb) => {
    const worst = eb
      .selectFrom('late')
      .select(['days_from', sql<number>`1`.as('operations'), 'installments', 'face_value'])
      .select(['application_id', 'code', 'fund_id', 'since'])
      .orderBy('since')
      .orderBy('face_value', 'desc')
      .orderBy('application_id')
      .orderBy('code')
      .limit(MOST_NAMED);
    return eb.selectFrom(worst.as('worst')).selectAll() as never;
  });
  return all;
};

/** @param fundIds of these funds alone, at least one; default: of all */
export const overdueIn = async (
  database: SqlDatabase,
  fundIds: readonly string[] | undefined,
  today: CalendarDate,
): Promise<Overdue> => {
  const rows = await database.read(query(database, fundIds, today));
  const bands: OverdueBand[] = [];
  const worst: OverdueOperation[] = [];
  for (const row of rows) {
    const { installments, face_value: faceValue, application_id: applicationId, code, fund_id: fundId } = row;
    const sums = { installments, faceValue };
    const { days_from: from, operations } = row;
    if (applicationId === null || code === null) bands.push({ from, to: endOf(from), operations, ...sums });
    else
      worst.push({
        ...{ applicationId, code, fundId, ...sums },
        days: daysBetween(row.since as CalendarDate, today),
      });
  }
  return {
    bands: bands.sort((a, b) => a.from - b.from),
    worst: worst.sort((a, b) => b.days - a.days || b.faceValue - a.faceValue),
  };
};
