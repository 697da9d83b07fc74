import { expect, test } from '@jest/globals';
import type { OperationQuery } from '../../application/loans/operation-query.ts';
import { SqlOperationSearch } from '../../application/loans/operation-search.ts';
import { slowness } from '../support/main-thread-cost.ts';
import { openReadModel, raw } from '../support/sql/temporary-database.ts';

const OPERATIONS = 100_000;
const WITHIN_MS = 100;

test('any search over a hundred thousand operations is answered within 100 ms', async () => {
  const { database, close } = await openReadModel();
  try {
    const at = `strftime('%Y-%m-%dT%H:%M:%fZ', 1767225600 + i * 30, 'unixepoch')`;
    const numbers = 'with recursive n(i) as (select 0 union all select i + 1 from n where i + 1 < ?)';
    const loans = `${numbers}
      insert into loan (id, stream, application_id, code, fund_id, status, product_type, acquisition_value, number_of_installments,
        date_issued, daily_factor, borrower, received_at, reason_detail)
      select i, printf('loan-app.OP-%07d', i), 'app', printf('OP-%07d', i), 'fund-' || (i % 3),
        case when i = 17 then 'rejected' else 'active' end, 'financing', 180000, 4, '2026-01-01', '0.9995', hex(randomblob(300)), ${at}, ''
      from n`;
    const progress = `${numbers}
      insert into progress (operation, application_id, code, received_at, updated_at, version, received_value)
      select i, 'app', printf('OP-%07d', i), ${at}, ${at}, 4, 0 from n`;
    // As many are late as can be sorted, each with three installments.
    const installments = `${numbers}, m(k) as (select 1 union all select k + 1 from m where k < 4)
      insert into installment (operation, code, seq, due_date, face_value, status)
      select i, printf('%03d', k), k, date('2026-01-01', '+' || (i % 28 + k * 30) || ' days'), 95000 + i,
        case when i % 5 = 3 and k < 4 then 'overdue' else 'pending' end from n, m`;
    await database.transaction([loans, progress, installments].map((text) => raw(text, OPERATIONS)));
    const search = new SqlOperationSearch(database);
    const queries: readonly Omit<OperationQuery, 'limit'>[] = [
      {},
      { code: 'OP-' },
      { code: 'op-', status: ['rejected'] },
      { code: '99999' },
      { code: 'nowhere' },
      { code: 'nowhere', from: '2026-01-02' },
      { code: '7', fundId: 'fund-2', status: ['active', 'rejected'], from: '2026-01-02' },
      { fundId: 'fund-1' },
      { fundId: 'fund-2', status: ['rejected'] },
      { status: ['rejected'] },
      { sorting: { by: 'code', descending: true } },
      { sorting: { by: 'code', descending: false }, fundId: 'fund-2', status: ['rejected'] },
      { onlyFundIds: ['fund-0', 'fund-2'], status: ['rejected'] },
      { applicationId: 'app' },
      { code: 'OP-', status: ['repurchased'], fundId: 'fund-1', before: '2026-01-02' },
      { overdue: true },
      { overdue: true, fundId: 'fund-1', status: ['active'] },
      { overdue: true, code: '7', sorting: { by: 'overdue_value', descending: true } },
      { streams: Array.from({ length: 10_000 }, (_, i) => `loan-app.OP-${String(i * 10).padStart(7, '0')}`) },
    ];
    const slow: string[] = [];
    for (const query of queries) {
      // The best of several, in processor time: what else runs on the machine is no property of the search.
      let ms = Infinity;
      const within = WITHIN_MS * slowness();
      for (let n = 0; n < 20 && ms > within; n++) {
        const began = process.cpuUsage();
        await search.find({ ...query, limit: 50, counted: true });
        const { user, system } = process.cpuUsage(began);
        ms = Math.min(ms, (user + system) / 1_000);
      }
      if (ms > within) slow.push(`${JSON.stringify(query).slice(0, 100)}: ${ms.toFixed(0)} ms`);
    }
    expect(slow).toEqual([]);
  } finally {
    await close();
  }
});
