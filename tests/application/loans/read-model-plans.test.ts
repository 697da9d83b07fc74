import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { CompiledQuery } from 'kysely';
import { calendarDate } from '../../../domain/shared/calendar-date.ts';
import { dueInstallments } from '../../../application/loans/overdue.ts';
import { encodeCursor } from '../../../application/loans/loan-page.ts';
import { Worklists } from '../../../application/administrator/worklists.ts';
import { SqlLoanReader } from '../../../application/loans/loan-reader.ts';
import { SqlFeedRows } from '../../../application/publication/feed.ts';
import type { Query, SqlDatabase } from '../../../application/sql/sql-database.ts';
import { openReadModel, query, raw } from '../../support/sql/temporary-database.ts';
import type { TemporaryDatabase } from '../../support/sql/temporary-database.ts';

const PROGRESS = 'SEARCH progress USING INTEGER PRIMARY KEY (rowid=?)';

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
  const plansOf = (
    read: (reader: Pick<SqlLoanReader, 'find' | 'list'>) => Promise<unknown>,
  ): Promise<readonly string[]> => plansOn((database) => read(new SqlLoanReader(database)));

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
      { ...at, status: ['active'] },
      'loan_list_status (application_id=? AND status=? AND (received_at,code)>(?,?))',
    ],
    [
      'of a fund in a status',
      { ...at, fundId: 'fund-1', status: ['active'] },
      'loan_list_fund_status (application_id=? AND fund_id=? AND status=? AND (received_at,code)>(?,?))',
    ],
  ])('a page of the operations %s', async (_, page, expected) => {
    expect(await plansOf((reader) => reader.list(page))).toEqual([
      `SEARCH loan USING INDEX ${expected}; ${PROGRESS}`,
    ]);
  });

  test('a page of what changed, as long as that is not too much to sort', async () => {
    const updatedSince = '2026-01-15T12:00:00.000Z';
    const [count, page] = await plansOf((reader) => reader.list({ ...at, status: ['active'], updatedSince }));
    const changed =
      'SEARCH progress USING COVERING INDEX progress_changed (application_id=? AND updated_at>?)';
    expect(count).toContain(changed);
    expect(page).toContain(`${changed}; SEARCH loan USING INTEGER PRIMARY KEY (rowid=?)`);
    expect(`${count} ${page}`.match(/SCAN \w+/g)).toEqual(['SCAN one', 'SCAN loan']);
    const many = `insert into progress (operation, application_id, code, received_at, updated_at, version, received_value)
      with recursive n(i) as (select 0 union all select i + 1 from n where i < 10000)
      select i, 'app-1', 'OP-' || i, '2026', '2027', 0, 0 from n`;
    await temporary.database.transaction([raw(many)]);
    const all = await plansOf((reader) => reader.list({ ...at, status: ['active'], updatedSince }));
    const next = 'INDEX loan_list_status (application_id=? AND status=? AND (received_at,code)>(?,?))';
    expect(all).toHaveLength(4);
    expect(all[2]).toContain(`SEARCH loan USING ${next}`);
    expect(all[3]).toBe(`SEARCH loan USING COVERING ${next}`);
  });

  test('a page of several states, the next of each by index', async () => {
    const [plan] = await plansOf((reader) => reader.list({ ...at, status: ['active', 'settled'] }));
    const next =
      'SEARCH loan USING COVERING INDEX loan_list_status (application_id=? AND status=? AND (received_at,code)>(?,?))';
    expect(plan!.split(next)).toHaveLength(3);
    expect(plan).toContain(
      'SEARCH loan USING INDEX loan_list (application_id=? AND received_at=? AND code=?)',
    );
    expect(plan).not.toContain('SCAN loan');
  });

  test('a page of the feed, and what of its application waits', async () => {
    const place = { position: 7, revision: 1 };
    const plans = await plansOn(async (database) => {
      const rows = new SqlFeedRows(database);
      await rows.after('app-1', undefined, 50);
      await rows.after('app-1', place, 50);
      await rows.index('app-1');
    });
    const [feed, held] = [
      'SEARCH feed USING PRIMARY KEY (application_id=?',
      'SEARCH quarantined_operation USING PRIMARY KEY (projection=? AND stream>? AND stream<?)',
    ];
    const loan = 'SEARCH loan USING INTEGER PRIMARY KEY (rowid=?)';
    expect(plans).toEqual([
      ...[`${feed}); ${loan}`, held],
      ...[`${feed} AND (position,revision)>(?,?)); ${loan}`, held],
      ...[`${feed})`, expect.stringContaining('projection_checkpoint USING PRIMARY KEY'), held],
    ]);
  });

  test('what is overdue, as long as that is not too much to sort', async () => {
    const more = {
      updatedSince: '2026-01-15T12:00:00.000Z',
      status: ['active', 'settled'],
      fundId: 'fund-1',
    };
    for (const query of [at, { ...at, ...more }]) {
      const plans = await plansOf((reader) => reader.list({ ...query, overdue: true }));
      const overdue =
        'SCAN installment USING COVERING INDEX installment_overdue; SCAN late; SEARCH loan USING INTEGER PRIMARY KEY';
      expect(plans).toEqual([expect.stringContaining(overdue), expect.stringContaining(overdue)]);
      expect(plans.join().match(/SCAN (?!installment USING COVERING|late|CONSTANT)\w+/g)).toBeNull();
    }
  });

  test('closing an installment that was never overdue leaves the index of what is alone', async () => {
    const [{ sql } = { sql: '' }] = await temporary.database.read(
      query<{ sql: string }>("select sql from sqlite_master where name = 'installment_overdue'"),
    );
    expect(sql).toBe("CREATE INDEX installment_overdue on installment (operation) where status = 'overdue'");
  });

  test('an operation with all that belongs to it', async () => {
    const plans = await plansOf((reader) => reader.find('app-1', 'OP-1'));
    expect(
      plans.map(
        (plan) =>
          /^SEARCH (\w+) USING (INDEX sqlite_autoindex_loan_1 \(stream|PRIMARY KEY \(operation)=\?\)/.exec(
            plan,
          )?.[1],
      ),
    ).toEqual(['loan', 'installment', 'installment_credit', 'prepayment', 'document', 'status_history']);
  });

  test.each<[string, (desk: Worklists) => Promise<unknown>, string]>([
    ['of all funds', (desk) => desk.pending({}), 'loan_waiting (waiting_since>?)'],
    [
      'of a fund',
      (desk) => desk.pending({ fundId: 'f' }),
      'loan_waiting_fund (fund_id=? AND status=? AND waiting_since>?)',
    ],
    [
      'of some funds',
      (desk) => desk.of(['f', 'g']).pending({}),
      'loan_waiting_fund (fund_id=? AND status=? AND waiting_since>?)',
    ],
    [
      'of an application',
      (desk) => desk.pending({ applicationId: 'a' }),
      'loan_list_status (application_id=? AND status=?)',
    ],
  ])('everything that waits %s', async (_, read, expected) => {
    const [plan, ...others] = await plansOn((database) => read(new Worklists(database)));
    expect([plan!.split('; ')[0], others]).toEqual([`SEARCH loan USING INDEX ${expected}`, []]);
  });

  test.each<[string, (desk: Worklists) => Promise<unknown>, string, number]>([
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
    const plans = await plansOn((database) => read(new Worklists(database)));
    expect(plans).toEqual(Array.from({ length: queries }, () => expect.stringContaining(index)));
    // Funds are few when they are put in order.
    expect(plans.filter((plan) => /TEMP B-TREE FOR (?:GROUP|LAST)/.test(plan))).toEqual([]);
    if (index.includes('(')) expect(plans.filter((plan) => plan.includes('TEMP B-TREE'))).toEqual([]);
  });

  test('what falls due in a week, without looking installments up', async () => {
    const [plan] = await plansOn((database) =>
      new Worklists(database).fallingDue(calendarDate('2026-06-15'), calendarDate('2026-06-21')),
    );
    expect(plan).toContain(
      'SEARCH installment USING COVERING INDEX installment_due (due_date>? AND due_date<?)',
    );
  });

  test('what is overdue, from the index of it and operation by operation', async () => {
    const plans = await plansOn((database) => new Worklists(database).overdue(calendarDate('2026-06-20')));
    expect(plans).toEqual([expect.stringContaining('SCAN installment USING INDEX installment_overdue')]);
    expect(plans[0]!.match(/SCAN installment/g)).toHaveLength(1);
    expect(plans[0]).toContain('SEARCH loan USING INTEGER PRIMARY KEY (rowid=?)');
  });

  test('the installments that fall due', async () => {
    const due = dueInstallments(temporary.database.builder, calendarDate('2026-06-20'), 500);
    expect(await planOf(due.compile())).toBe(
      'SEARCH installment USING COVERING INDEX installment_due (due_date<?); SEARCH loan USING INTEGER PRIMARY KEY (rowid=?)',
    );
  });
});
