import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { dueBefore } from '../../../application/loans/overdue.ts';
import type { DueInstallment } from '../../../application/loans/overdue.ts';
import { calendarDate } from '../../../domain/shared/calendar-date.ts';
import { openReadModel, raw } from '../../support/sql/temporary-database.ts';
import type { TemporaryDatabase } from '../../support/sql/temporary-database.ts';

/** One installment a number, 1000 an operation, due over a thousand days; one in five is not pending, and of twenty operations one is frozen and one not active. */
const fill = `
  with recursive n(i) as (select 0 union all select i + 1 from n where i + 1 < ?)
  insert into installment (operation, code, seq, due_date, face_value, status)
  select i / 1000, printf('%03d', i % 1000), i % 1000,
    date('2026-01-01', '+' || (i * 7 % 1000) || ' days'), 95000,
    case when i % 10 = 0 then 'settled' when i % 10 = 1 then 'overdue' when i / 1000 = 9 then 'frozen' else 'pending' end
  from n`;
const operations = `
  with recursive n(i) as (select 0 union all select i + 1 from n where i + 1 < ?)
  insert into loan (id, stream, application_id, code, fund_id, status, product_type, acquisition_value,
    number_of_installments, date_issued, daily_factor, borrower, received_at, reason_detail, active_at)
  select i, 'loan-app.' || i, '', '', '', '', '', 0, 0, '', '', '', '', '', case when i <> 19 then '2026-01-01' end from n`;

describe('due installments', () => {
  let temporary: TemporaryDatabase;
  beforeAll(async () => {
    temporary = await openReadModel();
    await temporary.database.transaction([raw(operations, 20), raw(fill, 20_000)]);
  });
  afterAll(() => temporary.close());

  const all = async (today: string, limit: number): Promise<readonly DueInstallment[]> => {
    const found: DueInstallment[] = [];
    for (;;) {
      const page = await dueBefore(temporary.database, calendarDate(today), limit, found.at(-1));
      found.push(...page);
      if (page.length < limit) return found;
    }
  };

  test('pages of any size tell the same, by due date, each once', async () => {
    const whole = await all('2026-02-01', 100_000);
    // 18 operations that can be paid; of 31 days, 24 have a pending installment.
    expect(whole).toHaveLength(18 * 24);
    expect(whole.every(({ dueDate }) => dueDate < '2026-02-01')).toBe(true);
    expect(whole.map(({ dueDate }) => dueDate)).toEqual(whole.map(({ dueDate }) => dueDate).sort());
    expect(await all('2026-02-01', 7)).toEqual(whole);
    expect(new Set(whole.map(({ stream, code }) => `${stream} ${code}`)).size).toBe(whole.length);
  });

  test('a page goes on after an installment that is no longer pending', async () => {
    const today = calendarDate('2026-02-01');
    const [first, second, third] = await dueBefore(temporary.database, today, 3);
    await temporary.database.transaction([
      raw(
        `update installment set status = 'overdue' where operation = (select id from loan where stream = ?) and code = ?`,
        second!.stream,
        second!.code,
      ),
    ]);
    expect(await dueBefore(temporary.database, today, 1, second)).toEqual([third]);
    expect(await dueBefore(temporary.database, today, 2)).toEqual([first, third]);
  });
});
