import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { LoanListQuery } from '../../../application/loans/loan-page.ts';
import { SqlLoanReader } from '../../../application/loans/loan-reader.ts';
import { openReadModel, raw } from '../../support/sql/temporary-database.ts';
import type { TemporaryDatabase } from '../../support/sql/temporary-database.ts';

const OPERATIONS = 30_000;
/** Of five of the later half two changed on the second day and two on the third: 6,000, or with both 12,000 operations. */
const seed = (): readonly string[] => [
  `insert into loan (id, stream, application_id, code, fund_id, status, product_type, acquisition_value, number_of_installments,
     date_issued, daily_factor, borrower, received_at, reason_detail)
   with recursive n(i) as (select 0 union all select i + 1 from n where i + 1 < ${OPERATIONS})
   select i, 's' || i, 'app', printf('OP-%05d', i), 'fund-' || (i % 2), 'active', 'p', 1, 1, '', '', '',
     strftime('%Y-%m-%dT%H:%M:%fZ', 1767225600 + i / 3, 'unixepoch'), '' from n`,
  `insert into progress (operation, application_id, code, received_at, updated_at, received_value, version)
   select id, application_id, code, received_at,
     case when i < ${OPERATIONS / 2} then '2026-02-01' when i % 5 < 2 then '2026-02-02' when i % 5 < 4 then '2026-02-03'
       else '2026-02-01' end || 'T12:00:00.000Z', 0, 0 from (select *, id as i from loan)`,
];

describe('a list of what changed', () => {
  let temporary: TemporaryDatabase;
  let reader: SqlLoanReader;
  beforeAll(async () => {
    temporary = await openReadModel();
    await temporary.database.transaction(seed().map((text) => raw(text)));
    reader = new SqlLoanReader(temporary.database);
  });
  afterAll(() => temporary.close());

  const walk = async (query: Partial<LoanListQuery>): Promise<readonly (readonly string[])[]> => {
    const pages: (readonly string[])[] = [];
    for (let cursor: string | null | undefined; cursor !== null && pages.length < 1_000;) {
      const page = await reader.list({
        applicationId: 'app',
        limit: 200,
        ...query,
        ...(cursor && { cursor }),
      });
      pages.push(page.loans.map(({ code }) => code));
      cursor = page.nextCursor;
    }
    return pages;
  };
  const codes = (wanted: (i: number) => boolean): readonly string[] =>
    Array.from({ length: OPERATIONS }, (_, i) => i)
      .filter((i) => i >= OPERATIONS / 2 && wanted(i))
      .map((i) => `OP-${String(i).padStart(5, '0')}`);

  test('that can be sorted has full pages', async () => {
    const pages = await walk({ updatedSince: '2026-02-03T12:00:00.000Z' });
    expect(pages.flat()).toEqual(codes((i) => i % 5 === 2 || i % 5 === 3));
    expect(new Set(pages.map(({ length }) => length))).toEqual(new Set([200]));
  });

  test('that is larger looks at the next operations for each page, which may then be short, and leaves none out', async () => {
    const pages = await walk({ updatedSince: '2026-02-02T12:00:00.000Z' });
    expect(pages.flat()).toEqual(codes((i) => i % 5 < 4));
    expect(pages[0]).toEqual([]);
    expect(Math.max(...pages.map(({ length }) => length))).toBe(200);
    const narrow = await walk({ updatedSince: '2026-02-02T12:00:00.000Z', fundId: 'fund-1', limit: 77 });
    expect(narrow.flat()).toEqual(codes((i) => i % 5 < 4 && i % 2 === 1));
  });
});
