import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { dueBefore } from '../../../application/loans/overdue.ts';
import type { DueInstallment } from '../../../application/loans/overdue.ts';
import { calendarDate } from '../../../domain/shared/calendar-date.ts';
import { SqlProjectionStore } from '../../../application/projecting/projection-store.ts';
import { readModelMigrations } from '../../../application/sql/read-model-tables.ts';
import { crashCases } from '../../application/projecting/crash-cases.ts';
import { emptied, rowsByStream } from '../../support/known-operations.ts';
import { openPostgres, raw, testPostgres } from '../../support/postgres/test-postgres.ts';
import type { PostgresFixture, TestPostgres } from '../../support/postgres/test-postgres.ts';

let postgres: TestPostgres;
let fixture: PostgresFixture;
beforeAll(async () => {
  postgres = await testPostgres();
  fixture = await openPostgres(postgres, readModelMigrations);
});
afterAll(async () => {
  await fixture.close();
  await postgres.close();
});

describe('rows in PostgreSQL are the same', () => {
  test.each(crashCases)('with $name', ({ check }) => {
    const { database } = fixture;
    return check({
      store: new SqlProjectionStore(database),
      rows: (table) => rowsByStream(database, table),
      empty: (projection) => emptied(database, projection),
    });
  });
});

describe('due installments in PostgreSQL', () => {
  /** Ten installments an operation, due on one day after the other; the third is settled, and every fourth operation is frozen. */
  const FILL = `insert into installment (operation, code, seq, due_date, face_value, status)
    select n / 10, lpad((n % 10)::text, 3, '0'), n % 10, '2026-01-' || lpad((n % 28 + 1)::text, 2, '0'),
      95000, case when n % 10 = 2 then 'settled' when n / 10 % 4 = 3 then 'frozen' else 'pending' end
    from generate_series(0, 199) n`;
  const OPERATIONS = `insert into loan (id, stream, application_id, code, fund_id, status, product_type, acquisition_value,
      number_of_installments, date_issued, daily_factor, borrower, received_at, reason_detail, active_at)
    select n, 'loan-app.' || chr(65 + n::integer), '', '', '', '', '', 0, 0, '', '', '', '', '', '2026-01-01' from generate_series(0, 19) n`;
  const TODAY = calendarDate('2026-01-15');
  const order = ({ dueDate, stream, code }: DueInstallment): string => `${dueDate} ${stream} ${code}`;

  test('pages of any size tell the same, by due date, each once', async () => {
    await fixture.database.transaction([raw('truncate installment, loan'), raw(OPERATIONS), raw(FILL)]);
    const whole = await dueBefore(fixture.database, TODAY, 1_000);
    // Told from how the rows above are made.
    const numbers = Array.from({ length: 200 }, (_, n) => n);
    const expected = numbers.filter((n) => n % 28 < 14 && n % 10 !== 2 && Math.floor(n / 10) % 4 !== 3);
    expect(whole).toHaveLength(expected.length);
    expect(whole.map(order)).toEqual(whole.map(order).sort());
    const paged: DueInstallment[] = [];
    for (let page = await dueBefore(fixture.database, TODAY, 7); page.length > 0;) {
      paged.push(...page);
      page = await dueBefore(fixture.database, TODAY, 7, page.at(-1));
    }
    expect(paged).toEqual(whole);
  });
});
