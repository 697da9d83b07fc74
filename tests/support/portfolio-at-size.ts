import { CompiledQuery } from 'kysely';
import { addDays, calendarDate } from '../../domain/shared/calendar-date.ts';
import { makeServiceData, openServingGeneration } from './service-data.ts';

const INSTALLMENTS = 12;
const FACTORS = 50;

/**
 * The portfolio read model of a fund with so many operations of twelve installments, bought over the first half of 2026, of which
 * everything due before April was paid on time.
 */
export const fillPortfolio = async (dataDir: string, fundId: string, operations: number): Promise<void> => {
  await makeServiceData(dataDir, fundId);
  const database = await openServingGeneration(dataDir);
  const numbers = 'with recursive n(i) as (select 0 union all select i + 1 from n where i + 1 < ?)';
  const bought = `date('2026-01-15', '+' || (i % 150) || ' days')`;
  const due = `date('2026-01-15', '+' || (i / ${INSTALLMENTS} % 150 + 30 * (1 + i % ${INSTALLMENTS})) || ' days')`;
  const statements = [
    `${numbers} insert into loan (id, stream, application_id, code, fund_id, status, product_type, acquisition_value,
       number_of_installments, date_issued, borrower, received_at, reason_detail, daily_factor, active_date, active_at,
       active_recorded_at)
     select i, printf('loan-app-2.OP-%07d', i), 'app-2', printf('OP-%07d', i), '${fundId}', 'active', '', 0, 0, '', '', '', '',
       '0.9993' || printf('%02d', i % ${FACTORS}) || '899697897308243314396013', ${bought}, ${bought} || 'T12:00:00.000Z',
       '2026-01-15T12:00:00.000Z' from n`,
    `${numbers} insert into installment (operation, code, seq, due_date, face_value, status, settled_at, recorded_at)
     select i / ${INSTALLMENTS}, printf('%03d', 1 + i % ${INSTALLMENTS}), i % ${INSTALLMENTS},
       ${due}, 95000 + i % 777, case when ${due} < '2026-04-01' then 'settled' else 'pending' end, case when ${due} < '2026-04-01' then ${due} end,
       case when ${due} < '2026-04-01' then '2026-01-15T12:00:00.000Z' end from n`,
    `insert into payment (fund_id, date, position, revision, operation, event_id, kind, installment_code, amount, owed_value,
       underpaid_value, excess_value, shortfall_value, received_before, installments, recorded_at)
     select '${fundId}', settled_at, operation * ${INSTALLMENTS} + seq, 4 + seq, operation, '', 'settlement', code, face_value,
       face_value, 0, 0, 0, 0, 1, recorded_at from installment where settled_at is not null`,
  ];
  const counts = [operations, operations * INSTALLMENTS];
  try {
    for (const [index, text] of statements.entries())
      await database.transaction([
        { query: CompiledQuery.raw(text, counts[index] === undefined ? [] : [counts[index]]) },
      ]);
  } finally {
    await database.close();
  }
};

/** Installments of operation `o` that are open at the end of a day, counted apart from any query. */
export const openOf = (o: number, date: string): number => {
  const start = calendarDate('2026-01-15');
  if (addDays(start, o % 150) > date) return 0;
  let open = 0;
  for (let k = 1; k <= INSTALLMENTS; k += 1) {
    const due = addDays(start, (o % 150) + 30 * k);
    if (due >= '2026-04-01' || due > date) open += 1;
  }
  return open;
};
