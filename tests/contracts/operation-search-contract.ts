import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { loanStream } from '../../application/command-handling/operation.ts';
import type { SqlOperationSearch } from '../../application/loans/operation-search.ts';
import type { OperationQuery, SearchPlace } from '../../application/loans/operation-search.ts';
import type { FundId } from '../../domain/shared/identifiers.ts';
import { approved } from '../domain/support/loan-story.ts';
import { second } from '../projections/loan/projected-events.ts';
import { assign } from './loan-reader-samples.ts';
import type { LoanReaderUnderTest } from './loan-reader-samples.ts';

interface Fixture {
  readonly search: SqlOperationSearch;
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

    /** All pages of two, one after the other. */
    const found = async (query: Omit<OperationQuery, 'limit'>): Promise<readonly string[]> => {
      const all: string[] = [];
      let after: SearchPlace | undefined;
      do {
        const page = await fixture.search.find({ ...query, ...(after && { after }), limit: 2 });
        expect(page.operations.length).toBeLessThanOrEqual(2);
        all.push(
          ...page.operations.map(({ application_id: applicationId, code }) => named({ applicationId, code })),
        );
        after = page.next;
      } while (after !== undefined);
      return all;
    };

    test('without a filter, the newest come first, over all applications', async () => {
      expect(await found({})).toEqual(stories.map(named).toReversed());
    });

    test('of some funds alone, it finds nothing of others, in full pages', async () => {
      const of = (fundId: FundId) => stories.filter((one) => one.fundId === fundId).map(named);
      expect(await found({ onlyFundIds: [funds[1]] })).toEqual(of(funds[1]).toReversed());
      expect(await found({ onlyFundIds: funds })).toEqual(stories.map(named).toReversed());
      expect(await found({ onlyFundIds: [funds[1]], fundId: funds[0] })).toEqual([]);
      expect(await found({ onlyFundIds: [funds[1]], code: 'A-1' })).toEqual(['other A-10']);
    });

    test('a code is searched by how it begins, byte by byte, in the order of codes', async () => {
      const first = [one, other].toSorted();
      const same = first.map((applicationId) => named({ applicationId, code: 'A-1' }));
      expect(await found({ code: 'A-1' })).toEqual([...same, 'other A-10']);
      expect(await found({ code: 'a-' })).toEqual(['one a-1']);
      expect(await found({ code: 'A_' })).toEqual(['other A_1']);
      expect(await found({ code: '~' })).toEqual(['other ~']);
      expect(await found({ code: '%' })).toEqual([]);
    });

    test('fund, state, time of arrival and code narrow together', async () => {
      expect(await found({ fundId: funds[1] })).toEqual(['other A_1', 'other A-10', 'one A-2']);
      expect(await found({ status: 'approved' })).toEqual(['other A-1', 'one A-2']);
      expect(await found({ fundId: funds[0], status: 'received' })).toEqual([
        'other ~',
        'one a-1',
        'one A-1',
      ]);
      expect(await found({ from: second(2), before: second(5) })).toEqual([
        'other A-10',
        'other A-1',
        'one a-1',
      ]);
      expect(await found({ code: 'A', fundId: funds[1], status: 'received' })).toEqual([
        'other A-10',
        'other A_1',
      ]);
      expect(await found({ fundId: randomUUID() })).toEqual([]);
    });

    test('of some operations, none but these', async () => {
      const streams = [loanStream(one, 'A-2'), loanStream(other, '~'), loanStream(other, 'NONE')];
      expect(await found({ streams })).toEqual(['other ~', 'one A-2']);
      expect(await found({ streams, status: 'approved' })).toEqual(['one A-2']);
      expect(await found({ streams: [] })).toEqual([]);
    });

    test('an operation is found with what a list shows of it', async () => {
      const { operations } = await fixture.search.find({ code: 'A-2', limit: 1 });
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
  });
};
