import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { loanStream } from '../../application/command-handling/operation.ts';
import { withLateness } from '../../application/loans/late-operations.ts';
import { SqlOperationSearch } from '../../application/loans/operation-search.ts';
import type { OperationQuery, SearchPlace } from '../../application/loans/operation-query.ts';
import type { FundId } from '../../domain/shared/identifiers.ts';
import type { SqlDatabase } from '../../application/sql/sql-database.ts';
import { calendarDate } from '../../domain/shared/calendar-date.ts';
import {
  approved,
  becameOverdue,
  disbursed,
  installmentCode,
  repurchaseCompleted,
  repurchaseRequested,
} from '../domain/support/loan-story.ts';
import { second } from '../projections/loan/projected-events.ts';
import { assign } from './loan-reader-samples.ts';
import type { LoanReaderUnderTest } from './loan-reader-samples.ts';

interface Fixture {
  readonly database: SqlDatabase;
  readonly project: LoanReaderUnderTest['project'];
}

/** Registers every promise of the port as a test of this adapter. */
export const describeOperationSearchContract = (
  adapter: string,
  open: () => Promise<Fixture & { close(): Promise<void> }>,
): void => {
  describe(`${adapter} keeps the promises of the search of operations`, () => {
    let fixture: Awaited<ReturnType<typeof open>>;
    const [one, other] = [randomUUID(), randomUUID()];
    const funds = [randomUUID(), randomUUID()] as unknown as readonly [FundId, FundId];
    const stories = [
      { applicationId: one, code: 'A-1', fundId: funds[0], then: [] },
      { applicationId: one, code: 'A-2', fundId: funds[1], then: [approved] },
      { applicationId: one, code: 'a-1', fundId: funds[0], then: [] },
      { applicationId: other, code: 'A-1', fundId: funds[0], then: [approved] },
      { applicationId: other, code: 'A-10', fundId: funds[1], then: [] },
      { applicationId: other, code: 'A_1', fundId: funds[1], then: [] },
      { applicationId: other, code: '~', fundId: funds[0], then: [] },
    ] as const;
    const named = ({ applicationId, code }: { applicationId: string; code: string }): string =>
      `${applicationId === one ? 'one' : 'other'} ${code}`;

    beforeAll(async () => {
      fixture = await open();
      for (const [i, { applicationId, code, fundId, then }] of stories.entries())
        await assign(
          { project: fixture.project } as LoanReaderUnderTest,
          { applicationId, code },
          { fundId, then, receivedAt: second(i) },
        );
    });
    afterAll(() => fixture.close());

    /** All pages of two, one after the other, none of which goes on from an operation that may not be seen. */
    const found = async (
      query: Omit<OperationQuery, 'limit'>,
      bounds: ConstructorParameters<typeof SqlOperationSearch>[1] = {},
    ): Promise<readonly string[]> => {
      const search = new SqlOperationSearch(fixture.database, bounds);
      const all: string[] = [];
      let after: SearchPlace | undefined;
      do {
        const page = await search.find({ ...query, ...(after && { after }), limit: 2 });
        expect(page.operations.length).toBeLessThanOrEqual(2);
        for (const { application_id: applicationId, code } of page.operations)
          all.push(named({ applicationId, code }));
        after = page.next;
        const place = stories.find(
          ({ applicationId, code }) => loanStream(applicationId, code) === after?.stream,
        );
        if (place) expect(query.onlyFundIds ?? funds).toContain(place.fundId);
      } while (after !== undefined);
      return all;
    };

    test('without a filter, the newest come first, over all applications', async () => {
      expect(await found({})).toEqual(stories.map(named).toReversed());
    });

    test('of some funds alone, it finds nothing of others, in full pages, and no place between two pages names one of them', async () => {
      const of = (fundId: FundId) => stories.filter((one) => one.fundId === fundId).map(named);
      expect(await found({ onlyFundIds: [funds[1]] })).toEqual(of(funds[1]).toReversed());
      expect(await found({ onlyFundIds: funds })).toEqual(stories.map(named).toReversed());
      expect(await found({ onlyFundIds: [funds[1]], fundId: funds[0] })).toEqual([]);
      expect(await found({ onlyFundIds: [funds[1]], code: 'A-1' })).toEqual(['other A-10']);
      const bounds = { atOnce: 1, mostLookedAt: 1, mostCounted: 1 };
      expect(await found({ onlyFundIds: [funds[1], one] }, bounds)).toEqual(of(funds[1]).toReversed());
      expect(await found({ onlyFundIds: [funds[1]], code: 'A' }, bounds)).toHaveLength(3);
    });

    test('a code is searched by any part of it, in upper or lower case, in the order of codes', async () => {
      const same = [one, other].toSorted().map((applicationId) => named({ applicationId, code: 'A-1' }));
      expect(await found({ code: 'A-1' })).toEqual([...same, 'other A-10', 'one a-1']);
      expect(await found({ code: '-1' })).toEqual([...same, 'other A-10', 'one a-1']);
      expect(await found({ code: 'a-10' })).toEqual(['other A-10']);
      for (const [code, only] of [
        ['_', 'other A_1'],
        ['~', 'other ~'],
      ] as const)
        expect(await found({ code })).toEqual([only]);
      expect(await found({ code: '%' })).toEqual([]);
      expect(await found({ code: '\\' })).toEqual([]);
    });

    const BY_CODE = ['A-1', 'A-1', 'A-10', 'A-2', 'A_1', 'a-1', '~'];
    const codesOf = (all: readonly string[]): readonly string[] => all.map((text) => text.split(' ')[1]!);

    test('it is sorted by arrival or by code, either way', async () => {
      expect(await found({ sorting: { by: 'received_at', descending: false } })).toEqual(stories.map(named));
      const sorted = await found({ sorting: { by: 'code', descending: false } });
      expect(codesOf(sorted)).toEqual(BY_CODE);
      expect(await found({ sorting: { by: 'code', descending: true } })).toEqual(sorted.toReversed());
      const ofFund = sorted.filter((text) =>
        stories.some((story) => named(story) === text && story.fundId === funds[0]),
      );
      expect(await found({ sorting: { by: 'code', descending: false }, fundId: funds[0] })).toEqual(ofFund);
    });

    test('it goes on after pages that were short because so much was looked through, and says how many there are at least', async () => {
      const bounds = { atOnce: 2, mostLookedAt: 2, mostCounted: 3 };
      expect(await found({ status: ['approved'] }, bounds)).toEqual(['other A-1', 'one A-2']);
      expect(codesOf(await found({ code: '1' }, bounds))).toEqual(
        BY_CODE.filter((code) => code.includes('1')),
      );
      expect(codesOf(await found({ code: '1', from: second(1) }, bounds))).toEqual([
        'A_1',
        'A-10',
        'A-1',
        'a-1',
      ]);
      const totalOf = async (query: Omit<OperationQuery, 'limit'>, most = bounds) =>
        (await new SqlOperationSearch(fixture.database, most).find({ ...query, limit: 1, counted: true }))
          .total;
      expect(await totalOf({})).toEqual({ operations: 3, atLeast: true });
      expect(await totalOf({ code: 'a-1' })).toEqual({ operations: 3, atLeast: true });
      expect(await totalOf({}, { ...bounds, mostCounted: 7 })).toEqual({ operations: 7, atLeast: false });
      expect(await totalOf({ fundId: randomUUID() })).toEqual({ operations: 0, atLeast: false });
    });

    test('fund, state, time of arrival and code narrow together', async () => {
      expect(await found({ fundId: funds[1] })).toEqual(['other A_1', 'other A-10', 'one A-2']);
      expect(await found({ status: ['approved'] })).toEqual(['other A-1', 'one A-2']);
      expect(await found({ fundId: funds[0], status: ['received'] })).toEqual([
        'other ~',
        'one a-1',
        'one A-1',
      ]);
      expect(await found({ from: second(2), before: second(5) })).toEqual([
        'other A-10',
        'other A-1',
        'one a-1',
      ]);
      expect(await found({ code: 'A', fundId: funds[1], status: ['received'] })).toEqual([
        'other A-10',
        'other A_1',
      ]);
      expect(await found({ applicationId: one })).toEqual(['one a-1', 'one A-2', 'one A-1']);
      expect(await found({ applicationId: one, status: ['approved', 'received'], code: 'A-2' })).toEqual([
        'one A-2',
      ]);
      expect(await found({ fundId: randomUUID() })).toEqual([]);
    });

    test('of some operations, none but these', async () => {
      const streams = [loanStream(one, 'A-2'), loanStream(other, '~'), loanStream(other, 'NONE')];
      expect(await found({ streams })).toEqual(['other ~', 'one A-2']);
      expect(await found({ streams, status: ['approved'] })).toEqual(['one A-2']);
      expect(await found({ streams: [] })).toEqual([]);
    });

    test('an operation is found with what a list shows of it', async () => {
      const { operations } = await new SqlOperationSearch(fixture.database).find({ code: 'A-2', limit: 1 });
      expect(operations).toEqual([
        {
          stream: loanStream(one, 'A-2'),
          application_id: one,
          code: 'A-2',
          fund_id: funds[1],
          status: 'approved',
          product_type: 'financing',
          acquisition_value: 18_000,
          received_value: 0,
          number_of_installments: 2,
          date_issued: '2026-01-15',
          received_at: second(1),
          updated_at: expect.any(String),
          borrower: 'sealed borrower',
        },
      ]);
    });

    describe('of what is late', () => {
      const third = randomUUID();
      const [fund, elsewhere] = [randomUUID(), randomUUID()] as unknown as readonly [FundId, FundId];
      const at = { applicationId: third, fundId: fund };
      const left = [repurchaseRequested('repurchase'), repurchaseCompleted('repurchase', 'repurchased')];
      const became = (code: string) => ({ ...becameOverdue('001'), installmentCode: installmentCode(code) });
      /** Each installment is due on the 28th of its month, for 100.00. */
      const late = [
        { ...at, code: 'L-1', overdue: ['P1'] },
        { ...at, code: 'L-2', overdue: ['P2', 'P3', 'P4'] },
        { ...at, code: 'L-3', overdue: ['P1', 'P2'] },
        { ...at, fundId: elsewhere, code: 'M-4', overdue: ['P1', 'P2', 'P3', 'P4'] },
        { ...at, code: 'M-5', overdue: [] },
        { ...at, code: 'M-6', overdue: ['P1', 'P2'], then: left },
      ] as const;
      beforeAll(async () => {
        for (const [i, { code, fundId, overdue, ...more }] of late.entries())
          await assign(
            { project: fixture.project } as LoanReaderUnderTest,
            { applicationId: third, code },
            {
              ...{ fundId, count: 4, receivedAt: second(20 + i) },
              then: [disbursed, ...overdue.map(became), ...('then' in more ? more.then : [])],
            },
          );
      });
      const overdue = { overdue: true, applicationId: third } as const;
      const by = (name: NonNullable<OperationQuery['sorting']>['by'], descending = true) => ({
        sorting: { by: name, descending },
      });
      const lateOnes = async (
        query: Omit<OperationQuery, 'limit'>,
        bounds: Parameters<typeof found>[1] = {},
      ): Promise<readonly string[]> => codesOf(await found({ ...overdue, ...query }, bounds));

      test('those that are late for longest come first, each once, and none that owes nothing any more', async () => {
        expect((await lateOnes({})).slice(0, 3).toSorted()).toEqual(['L-1', 'L-3', 'M-4']);
        expect((await lateOnes({})).slice(3)).toEqual(['L-2']);
        expect(await lateOnes(by('days_late', false))).toEqual((await lateOnes({})).toReversed());
      });

      test('it is sorted by what is overdue, by code or by arrival, and narrowed like any other list', async () => {
        expect(await lateOnes(by('overdue_value'))).toEqual(['M-4', 'L-2', 'L-3', 'L-1']);
        expect(await lateOnes(by('overdue_value', false))).toEqual(['L-1', 'L-3', 'L-2', 'M-4']);
        expect(await lateOnes(by('code', false))).toEqual(['L-1', 'L-2', 'L-3', 'M-4']);
        expect(await lateOnes(by('received_at'))).toEqual(['M-4', 'L-3', 'L-2', 'L-1']);
        expect(await lateOnes({ ...by('code', false), fundId: fund })).toEqual(['L-1', 'L-2', 'L-3']);
        expect(await lateOnes({ onlyFundIds: [elsewhere] })).toEqual(['M-4']);
        expect(await lateOnes({ code: 'm-' })).toEqual(['M-4']);
        expect(await lateOnes({ status: ['repurchased'] })).toEqual([]);
        expect(await lateOnes({ streams: [loanStream(third, 'L-3'), loanStream(third, 'M-5')] })).toEqual([
          'L-3',
        ]);
      });

      test('it says how many are late, and how much of them', async () => {
        const search = new SqlOperationSearch(fixture.database);
        const { total } = await search.find({ ...overdue, limit: 1, counted: true });
        expect(total).toEqual({ operations: 4, atLeast: false, overdueValue: 100_000 });
        const none = await search.find({ ...overdue, status: ['repurchased'], limit: 1, counted: true });
        expect(none.total).toEqual({ operations: 0, atLeast: false });
      });

      test('more than can be sorted are listed as they came', async () => {
        const many = { mostLate: 3, atOnce: 10, mostLookedAt: 20 };
        expect(await lateOnes(by('days_late'), many)).toEqual(['M-4', 'L-3', 'L-2', 'L-1']);
        expect(await lateOnes({ fundId: fund }, many)).toEqual(['L-3', 'L-2', 'L-1']);
        const search = new SqlOperationSearch(fixture.database, many);
        expect((await search.find({ ...overdue, ...by('days_late'), limit: 1 })).sorting).toEqual({
          by: 'received_at',
          descending: true,
        });
      });

      test('each is shown with its days and face values', async () => {
        const { operations } = await new SqlOperationSearch(fixture.database).find({
          ...{ applicationId: third, sorting: { by: 'received_at', descending: false }, limit: 10 },
        });
        const rows = await withLateness(fixture.database, calendarDate('2026-03-10'), operations);
        expect(rows.map((row) => [row.code, row.days_late, row.overdue_value])).toEqual([
          ['L-1', 41, 10_000],
          ['L-2', 10, 30_000],
          ['L-3', 41, 20_000],
          ['M-4', 41, 40_000],
          ['M-5', null, null],
          ['M-6', null, null],
        ]);
      });

      test('a place of an address that was written by hand is no fault', async () => {
        for (const name of ['received_at', 'code', 'days_late', 'overdue_value'] as const)
          for (const key of ['', 'x', '9'.repeat(30), "';"]) {
            const place = { after: { by: name, key, stream: 'y' } };
            await new SqlOperationSearch(fixture.database).find({
              ...overdue,
              ...by(name),
              ...place,
              limit: 1,
            });
          }
      });
    });
  });
};
