import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { LoanListQuery, LoanPage } from '../../application/loans/loan-page.ts';
import { SqlLoanReader } from '../../application/loans/loan-reader.ts';
import { SqlProjectionStore } from '../../application/projecting/projection-store.ts';
import type { Query, SqlDatabase } from '../../application/sql/sql-database.ts';
import type { LoanView } from '../../application/loans/loan-reader.ts';
import { openReadModel } from '../support/sql/temporary-database.ts';
import type { TemporaryDatabase } from '../support/sql/temporary-database.ts';
import { loanReaderCases } from './loan-reader-contract.ts';
import { projectInto } from './loan-reader-samples.ts';
import type { LoanReaderUnderTest } from './loan-reader-samples.ts';

/** Reads the tables one after the other, each as it is by then; what is written meanwhile gets in between. */
const piecewise = (database: SqlDatabase): LoanReaderUnderTest['reader'] => {
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

/** Asks for something else. */
class Changed extends SqlLoanReader {
  readonly #change: (query: LoanListQuery) => LoanListQuery;

  constructor(database: SqlDatabase, change: (query: LoanListQuery) => LoanListQuery) {
    super(database);
    this.#change = change;
  }

  override list(query: LoanListQuery): Promise<LoanPage> {
    return super.list(this.#change(query));
  }
}

/** Knows operations by their code alone. */
const tenantBlind = (
  inner: LoanReaderUnderTest['reader'],
  applications: () => readonly string[],
): LoanReaderUnderTest['reader'] => ({
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
    broken: (database: SqlDatabase, seen: () => readonly string[]) => LoanReaderUnderTest['reader'],
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
      'takes the first of several states',
      'several states are one list, in the order of arrival and page by page',
      (database: SqlDatabase) =>
        new Changed(database, ({ status, ...query }) => ({
          ...query,
          ...(status && { status: [status[0]!] }),
        })),
    ],
    [
      'does not ask what is overdue',
      'what is overdue: operations of which an installment is, once each, until it is paid',
      (database: SqlDatabase) => new Changed(database, ({ overdue: _, ...query }) => query),
    ],
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
