import { expect } from '@jest/globals';
import type { LoanListQuery } from '../../application/loans/loan-page.ts';
import type { LoanEvent } from '../../domain/loan/events.ts';
import { calendarDate } from '../../domain/shared/calendar-date.ts';
import type { FundId, InstallmentCode } from '../../domain/shared/identifiers.ts';
import { FUND, second, settled, toActive } from '../projections/loan/projected-events.ts';
import { assign, newOperation } from './loan-reader-samples.ts';
import type { LoanReaderCase, LoanReaderUnderTest } from './loan-reader-samples.ts';

export const OTHER_FUND = '0fa1b2c3-0000-4000-8000-000000000002';

export const codesOf = async (
  { reader }: LoanReaderUnderTest,
  query: LoanListQuery,
): Promise<readonly string[]> => (await reader.list(query)).loans.map(({ code }) => code);

/** Every page, following the cursors; `between` runs before each page but the first. */
export const walk = async (
  { reader }: LoanReaderUnderTest,
  query: LoanListQuery,
  between: (page: number) => Promise<void> = async () => undefined,
): Promise<readonly (readonly string[])[]> => {
  const pages: (readonly string[])[] = [];
  let cursor: string | null | undefined;
  do {
    if (pages.length > 0) await between(pages.length);
    const page = await reader.list({ ...query, ...(cursor && { cursor }) });
    pages.push(page.loans.map(({ code }) => code));
    cursor = page.nextCursor;
  } while (cursor !== null && pages.length < 50);
  return pages;
};

const late = (code: string): LoanEvent => ({
  type: 'InstallmentBecameOverdue',
  installmentCode: code as InstallmentCode,
  dueDate: calendarDate('2026-02-15'),
  recordedAt: second(5),
});

export const loanSelectionCases: readonly LoanReaderCase[] = [
  {
    name: 'several states are one list, in the order of arrival and page by page',
    check: async (fixture) => {
      const { applicationId } = newOperation();
      const stranger = newOperation().applicationId;
      for (const [code, at, then] of [
        ['A', 5, []],
        ['B', 4, toActive],
        ['C', 3, toActive.slice(0, 1)],
        ['D', 2, []],
        ['E', 1, toActive],
      ] as const) {
        await assign(fixture, { applicationId, code }, { receivedAt: second(at), then });
        await assign(fixture, { applicationId: stranger, code }, { receivedAt: second(at), then });
      }
      const both = { applicationId, limit: 2, status: ['received', 'active'] };
      expect(await walk(fixture, both)).toEqual([
        ['E', 'D'],
        ['B', 'A'],
      ]);
      expect(await walk(fixture, { ...both, limit: 3 })).toEqual([['E', 'D', 'B'], ['A']]);
      expect(await walk(fixture, { ...both, fundId: FUND, onlyFundIds: [FUND] })).toEqual([
        ['E', 'D'],
        ['B', 'A'],
      ]);
      expect(await codesOf(fixture, { ...both, fundId: OTHER_FUND })).toEqual([]);
      expect(await codesOf(fixture, { ...both, status: ['settled', 'rejected'] })).toEqual([]);
      const { nextCursor } = await fixture.reader.list({ applicationId, limit: 1 });
      expect(await codesOf(fixture, { ...both, cursor: nextCursor! })).toEqual(['D', 'B']);
      const changedToo = { ...both, limit: 9, updatedSince: second(0) };
      expect(await codesOf(fixture, changedToo)).toEqual(['E', 'D', 'B', 'A']);
    },
  },
  {
    name: 'what is overdue: operations of which an installment is, once each, until it is paid',
    check: async (fixture) => {
      const { applicationId } = newOperation();
      const stranger = newOperation().applicationId;
      for (const [code, at, fund, then] of [
        ['A', 5, FUND, [...toActive, late('P1'), late('P2')]],
        ['B', 4, FUND, toActive],
        ['C', 3, OTHER_FUND, [...toActive, late('P1')]],
        ['D', 2, FUND, [...toActive, late('P1'), settled('P1')]],
        ['E', 1, FUND, [...toActive, late('P1'), settled('P1'), late('P2')]],
        ['F.~/', 6, FUND, [...toActive, settled('P1'), late('P2')]],
      ] as const) {
        const rest = { fundId: fund as FundId, receivedAt: second(at), then };
        await assign(fixture, { applicationId, code }, rest);
        await assign(fixture, { applicationId: `${applicationId}-2`, code: `${code}2` }, rest);
        await assign(fixture, { applicationId: stranger, code }, { ...rest, then: toActive });
      }
      const overdue = { applicationId, limit: 3, overdue: true as const };
      expect(await walk(fixture, overdue)).toEqual([['E', 'C', 'A'], ['F.~/']]);
      expect(await codesOf(fixture, { ...overdue, fundId: FUND })).toEqual(['E', 'A', 'F.~/']);
      expect(await codesOf(fixture, { ...overdue, onlyFundIds: [OTHER_FUND] })).toEqual(['C']);
      expect(await codesOf(fixture, { ...overdue, status: ['active', 'settled'] })).toEqual(['E', 'C', 'A']);
      expect(await codesOf(fixture, { ...overdue, status: ['received'] })).toEqual([]);
      expect(await codesOf(fixture, { ...overdue, updatedSince: second(6) })).toEqual(['E']);
      expect(await codesOf(fixture, { ...overdue, applicationId: stranger })).toEqual([]);
      const { nextCursor } = await fixture.reader.list({ applicationId, limit: 2 });
      expect(await codesOf(fixture, { ...overdue, cursor: nextCursor! })).toEqual(['C', 'A', 'F.~/']);
    },
  },
];
