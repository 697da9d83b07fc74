import { afterAll, expect, test } from '@jest/globals';
import type { CompiledQuery } from 'kysely';
import { calendarDate } from '../../../domain/shared/calendar-date.ts';
import { Worklists } from '../../../application/administrator/worklists.ts';
import { SqlPortfolioPositions, standingsOn } from '../../../application/portfolio/portfolio-reader.ts';
import { SqlNotifiedPayments } from '../../../application/reconciliation/reconciliation-reader.ts';
import type { Query, SqlDatabase } from '../../../application/sql/sql-database.ts';
import { openReadModel, query } from '../../support/sql/temporary-database.ts';

const temporary = await openReadModel();
afterAll(() => temporary.close());

const TODAY = calendarDate('2026-06-20');
const LAST_ROW = { date: '2026-06-10', position: 7, revision: 4, stream: 'loan-app-1.OP-1' };

/** The plans of the queries of a read whose pages are full as long as `answers` has rows. */
const plansOf = async (
  read: (database: SqlDatabase) => Promise<unknown>,
  answers: readonly (readonly object[])[] = [],
): Promise<readonly string[]> => {
  const run: CompiledQuery[] = [];
  const left = [...answers];
  const note = (one: Query<unknown>): void => void run.push(one.compile());
  await read({
    dialect: 'sqlite',
    builder: temporary.database.builder,
    read: async (one: Query<unknown>) => {
      note(one);
      return left.shift() ?? [];
    },
    snapshot: async (queries: readonly Query<unknown>[]) => {
      queries.forEach(note);
      return queries.map(() => []);
    },
  } as unknown as SqlDatabase);
  return Promise.all(
    run.map(async ({ sql, parameters }) => {
      const plan = query<{ detail: string }>(`explain query plan ${sql}`, ...parameters);
      return (await temporary.database.read(plan)).map(({ detail }) => detail).join('; ');
    }),
  );
};

test('pages of notified payments follow their date, and no page sorts', async () => {
  const period = { fundId: 'fund-1', from: TODAY, to: TODAY };
  const plans = await plansOf(
    (database) => Array.fromAsync(new SqlNotifiedPayments(database, 1).within(period)),
    [[LAST_ROW]],
  );
  expect(plans).toHaveLength(2);
  for (const plan of plans) {
    expect(plan).toMatch(/^SEARCH payment USING PRIMARY KEY \(fund_id=\? AND date>\? AND date<\?\)/);
    expect(plan).not.toContain('TEMP B-TREE');
  }
});

test('money of a fund, and what was notified on a day, lie together', async () => {
  const asked = { fundId: 'fund-1', date: TODAY, knownAt: 'z' };
  const [flows] = await plansOf((database) => new SqlPortfolioPositions(database).flows(asked));
  expect(flows).toContain('SEARCH payment USING PRIMARY KEY (fund_id=? AND date<?)');
  const [notified] = await plansOf((database) => new Worklists(database).notified(TODAY, TODAY));
  expect(notified).toContain('SEARCH payment USING PRIMARY KEY (fund_id=? AND date>? AND date<?)');
  expect(notified).not.toContain('SCAN payment');
});

test('a page of the portfolio starts from the operations of the fund', async () => {
  const asked = { fundId: 'fund-1', date: TODAY, knownAt: 'z' };
  const plans = await plansOf((database) =>
    Array.fromAsync(new SqlPortfolioPositions(database).openOn(asked)),
  );
  const [operations, installments] = plans;
  expect(operations).toContain('USING INDEX loan_held (fund_id=? AND stream>?)');
  expect(operations).not.toContain('TEMP B-TREE');
  expect(installments).toContain('USING INDEX loan_held (fund_id=? AND stream>?)');
  expect(installments).toContain('SEARCH installment USING PRIMARY KEY (operation=?)');
});

test('how operations stood is looked up one by one, and nothing is walked over', async () => {
  const [plan] = await plansOf((database) => standingsOn(database, TODAY, ['loan-a.1', 'loan-a.2']));
  expect(plan).toContain('SEARCH loan USING INDEX sqlite_autoindex_loan_1 (stream=?)');
  expect(plan).toContain('SEARCH status_history USING PRIMARY KEY (operation=?)');
  expect(plan).not.toMatch(/SCAN|TEMP B-TREE/);
});
