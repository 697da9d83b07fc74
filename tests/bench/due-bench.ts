import { join } from 'node:path';
import { CompiledQuery } from 'kysely';
import { dueBefore } from '../../application/loans/overdue.ts';
import type { DueInstallment } from '../../application/loans/overdue.ts';
import { calendarDate } from '../../domain/shared/calendar-date.ts';
import { migrate } from '../../application/sql/migrations/migrate.ts';
import { readModelMigrations } from '../../application/sql/read-model-tables.ts';
import { SqliteDatabase } from '../../infrastructure/sqlite/sqlite-database.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/** How long it takes to find the installments of one day among a million open ones, and to find nothing. */
const OPEN = 1_000_000;
const DAYS = 365;
const PAGE = 500;

const directory = temporaryDirectory();
const database = await SqliteDatabase.open({
  path: join(directory, 'read-model.db'),
  synchronous: 'NORMAL',
  logger: new RecordingLogger(),
});
await migrate(database, readModelMigrations, '2026-01-15T12:00:00.000Z');
const fill = `
  with recursive n(i) as (select 0 union all select i + 1 from n where i + 1 < ?)
  insert into installment (operation, code, seq, due_date, face_value, status)
  select i / 12, printf('%03d', i % 12), i % 12,
    date('2026-06-20', '+' || ((i / 12 * 97 + i % 12 * 30) % ?) || ' days'), 95000, 'pending'
  from n`;
const operations = `
  with recursive n(i) as (select 0 union all select i + 1 from n where i + 1 < ?)
  insert into loan (id, stream, application_id, code, fund_id, status, product_type, acquisition_value,
    number_of_installments, date_issued, daily_factor, borrower, received_at, reason_detail, active_at)
  select i, printf('loan-app-1.OP-%06d', i), '', '', '', '', '', 0, 0, '', '', '', '', '', '2026-01-15' from n`;
await database.transaction([
  { query: CompiledQuery.raw(operations, [Math.ceil(OPEN / 12)]) },
  { query: CompiledQuery.raw(fill, [OPEN, DAYS]) },
]);

const sweep = async (today: string): Promise<void> => {
  const start = performance.now();
  let found = 0;
  let after: DueInstallment | undefined;
  for (;;) {
    const page = await dueBefore(database, calendarDate(today), PAGE, after);
    found += page.length;
    after = page.at(-1);
    if (page.length < PAGE) break;
  }
  const took = (performance.now() - start).toFixed(1);
  console.log(`${today}: ${found} of ${OPEN} installments are due, found in ${took} ms, ${PAGE} a page`);
};

try {
  for (const today of ['2026-06-20', '2026-06-21', '2026-06-21', '2026-06-27']) await sweep(today);
} finally {
  await database.close();
}
