import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { LoanListQuery, LoanPage, LoanReader } from '../../application/ports/loan-queries.ts';
import { SqlLoanReader } from '../../infrastructure/sql/read-models/loan-reader.ts';
import { SqlProjectionStore } from '../../infrastructure/sql/read-models/projection-store.ts';
import type { Query, SqlDatabase } from '../../infrastructure/sql/sql-database.ts';
import type { LoanView } from '../../projections/loan/loan-view.ts';
import { openReadModel } from '../infrastructure/sql/support/temporary-database.ts';
import type { TemporaryDatabase } from '../infrastructure/sql/support/temporary-database.ts';
import { describeLoanReaderContract, loanReaderCases } from './loan-reader-contract.ts';
import { projectInto } from './loan-reader-samples.ts';

describeLoanReaderContract('SqlLoanReader on SQLite', async () => {
  const { database, close } = await openReadModel();
  return {
    reader: new SqlLoanReader(database),
    project: projectInto(new SqlProjectionStore(database)),
    close,
  };
});

/** Reads the tables one after the other, each as it is by then; what is written meanwhile gets in between. */
const piecewise = (database: SqlDatabase): LoanReader => {
  const snapshot = async (queries: readonly Query<unknown>[]): Promise<unknown> => {
    const tables: unknown[] = [];
    for (const query of queries) {
      tables.push(await database.read(query));
      await sleep(2);
    }
    return tables;
  };
  const broken = { builder: database.builder, read: database.read.bind(database), snapshot };
  return new SqlLoanReader(broken as unknown as SqlDatabase);
};

/** Counts rows instead of remembering a place. */
class CountsRows extends SqlLoanReader {
  override async list({ cursor, ...query }: LoanListQuery): Promise<LoanPage> {
    const from = cursor === undefined ? 0 : Number(cursor);
    const { loans } = await super.list({ ...query, limit: 10_000 });
    const end = from + query.limit;
    return { loans: loans.slice(from, end), nextCursor: end < loans.length ? String(end) : null };
  }
}

/** Knows operations by their code alone. */
const tenantBlind = (inner: LoanReader, applications: () => readonly string[]): LoanReader => ({
  list: (query) => inner.list(query),
  find: async (_, code): Promise<LoanView | undefined> => {
    for (const applicationId of applications()) {
      const view = await inner.find(applicationId, code);
      if (view) return view;
    }
    return undefined;
  },
});

describe('the contract of the loan reader', () => {
  let temporary: TemporaryDatabase;
  beforeAll(async () => {
    temporary = await openReadModel();
  });
  afterAll(() => temporary.close());

  const check = async (
    name: string,
    broken: (database: SqlDatabase, seen: () => readonly string[]) => LoanReader,
  ) => {
    const project = projectInto(new SqlProjectionStore(temporary.database));
    const seen: string[] = [];
    await loanReaderCases
      .find((one) => one.name === name)!
      .check({
        reader: broken(temporary.database, () => seen),
        project: async (events) => {
          seen.push(...events.map(({ applicationId }) => applicationId));
          await project(events);
        },
      });
  };

  test.each([
    [
      'reads piece by piece',
      'an operation that changes while it is read is read as it was at one moment',
      piecewise,
    ],
    [
      'pages by counting',
      'operations added between pages move nothing that was there: no gap, nothing twice',
      (database: SqlDatabase) => new CountsRows(database),
    ],
    [
      'forgets the application',
      'the operation of one application is not found for another',
      (database: SqlDatabase, seen: () => readonly string[]) =>
        tenantBlind(new SqlLoanReader(database), seen),
    ],
  ] as const)('is broken by a reader that %s', async (_, name, broken) => {
    await check(name, (database) => new SqlLoanReader(database));
    await expect(check(name, broken)).rejects.toThrow();
  });
});
