import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { CompiledQuery } from 'kysely';
import type { LoanReader } from '../../../../application/ports/loan-queries.ts';
import { calendarDate } from '../../../../domain/shared/calendar-date.ts';
import { dueInstallments } from '../../../../infrastructure/sql/read-models/due-installments.ts';
import { encodeCursor } from '../../../../infrastructure/sql/read-models/loan-page.ts';
import { SqlDesk } from '../../../../infrastructure/sql/read-models/desk-reader.ts';
import { SqlLoanReader } from '../../../../infrastructure/sql/read-models/loan-reader.ts';
import type { Query, SqlDatabase } from '../../../../infrastructure/sql/sql-database.ts';
import { openReadModel, query, raw } from '../support/temporary-database.ts';
import type { TemporaryDatabase } from '../support/temporary-database.ts';

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
  const plansOf = (read: (reader: LoanReader) => Promise<unknown>): Promise<readonly string[]> =>
    plansOn((database) => read(new SqlLoanReader(database)));

  const plansOn = async (read: (noting: SqlDatabase) => Promise<unknown>): Promise<readonly string[]> => {
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
    await read(noting as unknown as SqlDatabase);
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

  test('a page of what changed, as long as that is not too much to sort', async () => {
    const updatedSince = '2026-01-15T12:00:00.000Z';
    const [count, page] = await plansOf((reader) => reader.list({ ...at, status: 'active', updatedSince }));
    const changed = 'INDEX loan_changed (application_id=? AND updated_at>?)';
    expect(count).toContain(`SEARCH loan USING COVERING ${changed}`);
    expect(page).toContain(`SEARCH loan USING ${changed}`);
    expect(`${count} ${page}`.match(/SCAN \w+/g)).toEqual(['SCAN one', 'SCAN some']);
    const many = `insert into loan (stream, application_id, code, fund_id, status, product_type, acquisition_value,
        number_of_installments, date_issued, daily_factor, borrower, received_at, updated_at, received_value, version)
      with recursive n(i) as (select 0 union all select i + 1 from n where i < 10000)
      select 's' || i, 'app-1', 'OP-' || i, '', 'active', '', 1, 1, '', '', '', '2026', '2027', 0, 0 from n`;
    await temporary.database.transaction([raw(many)]);
    const all = await plansOf((reader) => reader.list({ ...at, status: 'active', updatedSince }));
    const next = 'INDEX loan_list_status (application_id=? AND status=? AND (received_at,code)>(?,?))';
    expect(all).toHaveLength(4);
    expect(all[2]).toContain(`SEARCH loan USING ${next}`);
    expect(all[3]).toBe(`SEARCH loan USING COVERING ${next}`);
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

  test.each<[string, (desk: SqlDesk) => Promise<unknown>, string, number]>([
    ['counted', (desk) => desk.waiting(), 'SCAN loan USING COVERING INDEX loan_waiting_fund', 1],
    ['listed', (desk) => desk.worklist({ limit: 50 }), 'loan_waiting (waiting_since>?)', 1],
    [
      'listed by decision',
      (desk) => desk.worklist({ limit: 50, status: 'received' }),
      'loan_waiting (waiting_since>?)',
      1,
    ],
    [
      'listed by fund, from a place on',
      (desk) =>
        desk.worklist({ limit: 50, fundId: 'f', after: { since: '2026', applicationId: 'a', code: 'c' } }),
      'loan_waiting_fund (fund_id=? AND status=? AND (waiting_since,stream)>(?,?))',
      4,
    ],
  ])('what waits for a decision, %s, whatever else there is', async (_, read, index, queries) => {
    const plans = await plansOn((database) => read(new SqlDesk(database)));
    expect(plans).toEqual(Array.from({ length: queries }, () => expect.stringContaining(index)));
    // Funds are few when they are put in order.
    expect(plans.filter((plan) => /TEMP B-TREE FOR (?:GROUP|LAST)/.test(plan))).toEqual([]);
    if (index.includes('(')) expect(plans.filter((plan) => plan.includes('TEMP B-TREE'))).toEqual([]);
  });

  test('what falls due in a week, without looking installments up', async () => {
    const [plan] = await plansOn((database) =>
      new SqlDesk(database).fallingDue(calendarDate('2026-06-15'), calendarDate('2026-06-21')),
    );
    expect(plan).toContain(
      'SEARCH installment USING COVERING INDEX installment_due (due_date>? AND due_date<?)',
    );
  });

  test('the installments that fall due', async () => {
    const due = dueInstallments(temporary.database.builder, calendarDate('2026-06-20'), 500);
    expect(await planOf(due.compile())).toBe(
      'SEARCH installment USING COVERING INDEX installment_due (due_date<?)',
    );
  });
});
