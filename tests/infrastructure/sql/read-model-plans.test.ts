import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { CompiledQuery } from 'kysely';
import type { LoanReader } from '../../../application/ports/loan-reader.ts';
import { calendarDate } from '../../../domain/shared/calendar-date.ts';
import { dueInstallments } from '../../../infrastructure/sql/due-installments.ts';
import { encodeCursor } from '../../../infrastructure/sql/loan-list-cursor.ts';
import { SqlLoanReader } from '../../../infrastructure/sql/loan-reader.ts';
import type { Query, SqlDatabase } from '../../../infrastructure/sql/sql-database.ts';
import { openReadModel, query } from './support/temporary-database.ts';
import type { TemporaryDatabase } from './support/temporary-database.ts';

describe('the read model finds its rows by index', () => {
  let temporary: TemporaryDatabase;
  beforeAll(async () => {
    temporary = await openReadModel();
  });
  afterAll(() => temporary.close());

  const planOf = async ({ sql, parameters }: CompiledQuery): Promise<string> => {
    const plan = query<{ detail: string }>(`explain query plan ${sql}`, ...parameters);
    return (await temporary.database.read(plan)).map(({ detail }) => detail).join('; ');
  };

  /** The plans of the queries that this read runs. */
  const plansOf = async (read: (reader: LoanReader) => Promise<unknown>): Promise<readonly string[]> => {
    const { database } = temporary;
    const run: CompiledQuery[] = [];
    const noting = {
      builder: database.builder,
      read: (one: Query<unknown>) => noting.snapshot([one]).then(([rows]) => rows),
      snapshot: async (queries: readonly Query<unknown>[]) => {
        run.push(...queries.map((one) => one.compile()));
        return database.snapshot(queries);
      },
    };
    await read(new SqlLoanReader(noting as unknown as SqlDatabase));
    return Promise.all(run.map(planOf));
  };

  const cursor = encodeCursor({ receivedAt: '2026-01-15T12:00:00.000Z', code: 'OP-1' });
  const at = { applicationId: 'app-1', limit: 50, cursor };

  test.each([
    ['of an application', at, 'loan_list (application_id=? AND (received_at,code)>(?,?))'],
    [
      'of a fund',
      { ...at, fundId: 'fund-1' },
      'loan_list_fund (application_id=? AND fund_id=? AND (received_at,code)>(?,?))',
    ],
    [
      'in a status',
      { ...at, status: 'active' },
      'loan_list_status (application_id=? AND status=? AND (received_at,code)>(?,?))',
    ],
    [
      'of a fund in a status',
      { ...at, fundId: 'fund-1', status: 'active' },
      'loan_list_fund_status (application_id=? AND fund_id=? AND status=? AND (received_at,code)>(?,?))',
    ],
  ])('a page of the operations %s', async (_, page, expected) => {
    expect(await plansOf((reader) => reader.list(page))).toEqual([`SEARCH loan USING INDEX ${expected}`]);
  });

  test('an operation with all that belongs to it', async () => {
    const plans = await plansOf((reader) => reader.find('app-1', 'OP-1'));
    expect(
      plans.map(
        (plan) =>
          /^SEARCH (\w+) USING (INDEX sqlite_autoindex_loan_1|PRIMARY KEY) \(stream=\?\)/.exec(plan)?.[1],
      ),
    ).toEqual(['loan', 'installment', 'installment_credit', 'prepayment', 'document', 'status_history']);
  });

  test('the installments that fall due', async () => {
    const due = dueInstallments(temporary.database.builder, calendarDate('2026-06-20'), 500);
    expect(await planOf(due.compile())).toBe(
      'SEARCH installment USING COVERING INDEX installment_due (due_date<?)',
    );
  });
});
