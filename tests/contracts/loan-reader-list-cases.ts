import { expect } from '@jest/globals';
import type { FundId } from '../../domain/shared/identifiers.ts';
import { DomainError } from '../../domain/shared/domain-error.ts';
import { FUND, second, settled, toActive } from '../projections/loan/projected-events.ts';
import { assign, newOperation } from './loan-reader-samples.ts';
import type { LoanReaderCase, LoanReaderUnderTest } from './loan-reader-samples.ts';
import { OTHER_FUND, codesOf, loanSelectionCases, walk } from './loan-reader-selection-cases.ts';

const assignAt = (fixture: LoanReaderUnderTest, applicationId: string, code: string, at: number) =>
  assign(fixture, { applicationId, code }, { receivedAt: second(at) });

const order: readonly LoanReaderCase[] = [
  {
    name: 'a list holds the operations of its application alone, oldest first',
    check: async (fixture) => {
      const { applicationId } = newOperation();
      for (const [code, at] of [
        ['B', 2],
        ['C', 1],
        ['A', 3],
        ['D', 2],
      ] as const) {
        await assignAt(fixture, applicationId, code, at);
        await assignAt(fixture, newOperation().applicationId, code, at);
      }
      expect(await codesOf(fixture, { applicationId, limit: 10 })).toEqual(['C', 'B', 'D', 'A']);
    },
  },
  {
    name: 'a list of nothing is empty, and has no next page',
    check: async ({ reader }) => {
      const { applicationId } = newOperation();
      expect(await reader.list({ applicationId, limit: 10 })).toEqual({ loans: [], nextCursor: null });
    },
  },
  {
    name: 'an entry is what a list shows of the row that a read of the operation gives',
    check: async (fixture) => {
      const operation = newOperation();
      const { applicationId } = operation;
      await assign(fixture, operation, { then: toActive });
      const view = await fixture.reader.find(applicationId, operation.code);
      const [entry] = (await fixture.reader.list({ applicationId, limit: 1 })).loans;
      expect(entry).toHaveProperty('code', operation.code);
      expect(view?.loan).toMatchObject(entry!);
    },
  },
  {
    name: 'status and fund narrow the list, alone and together',
    check: async (fixture) => {
      const { applicationId } = newOperation();
      for (const [code, fund, then] of [
        ['A', FUND, []],
        ['B', FUND, toActive],
        ['C', OTHER_FUND, []],
        ['D', OTHER_FUND, toActive],
      ] as const) {
        await assign(fixture, { applicationId, code }, { fundId: fund as FundId, then });
      }
      const list = (filters: object) => codesOf(fixture, { applicationId, limit: 10, ...filters });
      expect(await list({ status: ['active'] })).toEqual(['B', 'D']);
      expect(await list({ fundId: OTHER_FUND })).toEqual(['C', 'D']);
      expect(await list({ status: ['active'], fundId: FUND })).toEqual(['B']);
      expect(await list({ status: ['settled'] })).toEqual([]);
    },
  },
];

const changed: readonly LoanReaderCase[] = [
  {
    name: 'what changed at an instant or later, in the order of arrival and page by page',
    check: async (fixture) => {
      const { applicationId } = newOperation();
      // Changed at second 0, 3 or 4: the time of the last event, whatever the time of arrival.
      for (const [code, at, then] of [
        ['A', 9, toActive],
        ['B', 1, []],
        ['C', 8, [...toActive, settled('P1')]],
        ['D', 7, [...toActive, settled('P1')]],
        ['E', 6, toActive],
      ] as const) {
        await assign(fixture, { applicationId, code }, { receivedAt: second(at), then });
      }
      const since = (at: number) => ({ applicationId, limit: 2, updatedSince: second(at) });
      expect(await walk(fixture, since(0))).toEqual([['B', 'E'], ['D', 'C'], ['A']]);
      expect(await walk(fixture, since(3))).toEqual([
        ['E', 'D'],
        ['C', 'A'],
      ]);
      expect(await walk(fixture, since(4))).toEqual([['D', 'C']]);
      expect(await walk(fixture, since(5))).toEqual([[]]);
      const { nextCursor } = await fixture.reader.list({ applicationId, limit: 2 });
      expect(await codesOf(fixture, { ...since(4), cursor: nextCursor! })).toEqual(['D', 'C']);
    },
  },
  {
    name: 'what changed, of a fund, in a status, and for a client of some funds',
    check: async (fixture) => {
      const { applicationId } = newOperation();
      for (const [code, fund, then] of [
        ['A', FUND, []],
        ['B', FUND, toActive],
        ['C', OTHER_FUND, toActive],
        ['D', OTHER_FUND, [...toActive, settled('P1')]],
      ] as const) {
        await assign(fixture, { applicationId, code }, { fundId: fund as FundId, then });
      }
      const changedSince = { applicationId, limit: 10, updatedSince: second(3) };
      expect(await codesOf(fixture, { ...changedSince, fundId: FUND })).toEqual(['B']);
      expect(await codesOf(fixture, { ...changedSince, status: ['received'] })).toEqual([]);
      expect(await codesOf(fixture, { ...changedSince, status: ['active'], fundId: OTHER_FUND })).toEqual([
        'C',
        'D',
      ]);
      expect(await codesOf(fixture, { ...changedSince, onlyFundIds: [FUND] })).toEqual(['B']);
      const stranger = { ...changedSince, applicationId: newOperation().applicationId };
      expect(await codesOf(fixture, stranger)).toEqual([]);
    },
  },
];

const paging: readonly LoanReaderCase[] = [
  {
    name: 'pages hold every operation once, and the last one has no cursor, even when it is full',
    check: async (fixture) => {
      const { applicationId } = newOperation();
      const codes = ['A', 'B', 'C', 'D', 'E', 'F'];
      for (const [i, code] of codes.entries()) await assignAt(fixture, applicationId, code, i % 2);
      const inOrder = ['A', 'C', 'E', 'B', 'D', 'F'];
      expect(await walk(fixture, { applicationId, limit: 2 })).toEqual([
        inOrder.slice(0, 2),
        inOrder.slice(2, 4),
        inOrder.slice(4),
      ]);
      expect(await walk(fixture, { applicationId, limit: 6 })).toEqual([inOrder]);
      expect(await walk(fixture, { applicationId, limit: 4 })).toEqual([
        inOrder.slice(0, 4),
        inOrder.slice(4),
      ]);
    },
  },
  {
    name: 'operations added between pages move nothing that was there: no gap, nothing twice',
    check: async (fixture) => {
      const { applicationId } = newOperation();
      const codes = Array.from({ length: 8 }, (_, i) => `OLD-${i}`);
      for (const [i, code] of codes.entries()) await assignAt(fixture, applicationId, code, 10 + i);
      const pages = await walk(fixture, { applicationId, limit: 2 }, async (page) => {
        await assignAt(fixture, applicationId, `EARLIER-${page}`, page);
        if (page < 3) await assignAt(fixture, applicationId, `LATER-${page}`, 100 + page);
      });
      expect(pages.flat()).toEqual([...codes, 'LATER-1', 'LATER-2']);
    },
  },
  {
    name: 'a list for some funds knows no operation of another, whatever else it is narrowed by',
    check: async (fixture) => {
      const { applicationId } = newOperation();
      const third = '0fa1b2c3-0000-4000-8000-000000000003';
      for (const [i, fundId] of [FUND, OTHER_FUND, third, FUND, OTHER_FUND].entries()) {
        await assign(
          fixture,
          { applicationId, code: `OP-${i}` },
          { fundId: fundId as FundId, receivedAt: second(i) },
        );
      }
      const some = { applicationId, limit: 2, onlyFundIds: [FUND, third] };
      expect(await walk(fixture, some)).toEqual([['OP-0', 'OP-2'], ['OP-3']]);
      expect(await walk(fixture, { ...some, fundId: FUND })).toEqual([['OP-0', 'OP-3']]);
      expect(await walk(fixture, { ...some, fundId: OTHER_FUND })).toEqual([[]]);
    },
  },
  {
    name: 'pages of a narrowed list stay narrowed',
    check: async (fixture) => {
      const { applicationId } = newOperation();
      for (let i = 0; i < 6; i++) {
        const then = i % 2 === 0 ? toActive : [];
        await assign(fixture, { applicationId, code: `OP-${i}` }, { receivedAt: second(i), then });
      }
      expect(await walk(fixture, { applicationId, limit: 2, status: ['active'], fundId: FUND })).toEqual([
        ['OP-0', 'OP-2'],
        ['OP-4'],
      ]);
    },
  },
  {
    name: 'a cursor that no list gave out is refused by name',
    check: async (fixture) => {
      const { applicationId } = newOperation();
      for (const code of ['A', 'B']) await assign(fixture, { applicationId, code });
      const { nextCursor } = await fixture.reader.list({ applicationId, limit: 1 });
      expect(nextCursor).toMatch(/^[A-Za-z0-9_-]+$/);
      const json = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
      const foreign = [
        '',
        'x',
        '!!!',
        `${nextCursor}=`,
        ` ${nextCursor}`,
        json(null),
        json(['a']),
        json(['a', 1]),
        json({}),
        json(['2026-01-15T12:00:00.000Z', 'A\u0000']),
        json(['\u0000', 'A']),
      ];
      for (const cursor of foreign) {
        const refusal = await fixture.reader
          .list({ applicationId, limit: 1, cursor })
          .catch((error: unknown) => error);
        expect(refusal).toBeInstanceOf(DomainError);
        expect(refusal).toMatchObject({ code: 'invalid_query_parameter', details: [{ field: 'cursor' }] });
      }
    },
  },
];

export const loanListCases: readonly LoanReaderCase[] = [
  ...order,
  ...loanSelectionCases,
  ...changed,
  ...paging,
];
