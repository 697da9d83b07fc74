import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { WaitingPlace } from '../../application/administrator/worklists.ts';
import { calendarDate } from '../../domain/shared/calendar-date.ts';
import { Worklists } from '../../application/administrator/worklists.ts';
import type { SqlDatabase } from '../../application/sql/sql-database.ts';
import {
  approved,
  disbursed,
  paid,
  rejected,
  repurchaseRequested,
  termSigned,
} from '../domain/support/loan-story.ts';
import { FundUnderTest } from './fund-side-samples.ts';

const DAY = calendarDate('2026-02-15');
const ACTIVE = [approved, termSigned, disbursed] as const;

/** Registers every promise of the port as a test of this engine. */
export const describeDeskContract = (
  engine: string,
  open: () => Promise<{ readonly database: SqlDatabase; close(): Promise<void> }>,
): void => {
  describe(`the desk on ${engine}`, () => {
    let close: () => Promise<void>;
    let desk: Worklists;
    let fund: FundUnderTest;
    let other: FundUnderTest;

    beforeAll(async () => {
      const opened = await open();
      close = () => opened.close();
      desk = new Worklists(opened.database);
      fund = new FundUnderTest(opened.database);
      const stories = {
        A: [],
        B: [],
        C: [approved],
        D: [approved, termSigned],
        E: [...ACTIVE, repurchaseRequested('cession_reversal')],
        F: [...ACTIVE, paid('001'), paid('002', '940.00', DAY)],
        G: [rejected],
        H: ACTIVE,
      };
      for (const [code, then] of Object.entries(stories)) await fund.tell(code, [fund.loan(code), ...then]);
      other = new FundUnderTest(opened.database);
      await other.tell('A', [other.loan('A')]);
    });
    afterAll(() => close());

    const listed = async (query: object): Promise<readonly string[]> =>
      (await desk.worklist({ fundId: fund.fundId, limit: 50, ...query })).map(({ code }) => code);

    test('groups what waits by fund and decision, in the order of the decisions', async () => {
      const { acquisitionValue } = fund.loan('A');
      const groups = (await desk.waiting()).filter(({ fundId }) => fundId === fund.fundId);
      expect(
        groups.map(({ status, operations, acquisitionValue: value }) => [status, operations, value]),
      ).toEqual([
        ['received', 2, 2 * acquisitionValue],
        ['approved', 1, acquisitionValue],
        ['term_signed', 1, acquisitionValue],
        ['repurchase_pending', 1, acquisitionValue],
      ]);
      expect(groups[1]!.oldestSince).toBe(approved.approvedAt);
    });

    test('lists what waits, the longest first, page after page, without gaps or repetitions', async () => {
      const all = await listed({});
      expect(all.toSorted()).toEqual(['A', 'B', 'C', 'D', 'E']);
      const paged: string[] = [];
      let after: WaitingPlace | undefined;
      do {
        const found = await desk.worklist({ fundId: fund.fundId, limit: 2, ...(after && { after }) });
        const page = found.slice(0, 2);
        paged.push(...page.map(({ code }) => code));
        after = found.length > 2 ? page.at(-1) : undefined;
      } while (after);
      expect(paged).toEqual(all);
      const waits = await desk.worklist({ fundId: fund.fundId, limit: 50 });
      expect(waits.map(({ since }) => since)).toEqual(waits.map(({ since }) => since).toSorted());
    });

    test('keeps to a decision and to a fund', async () => {
      expect(await listed({ status: 'term_signed' })).toEqual(['D']);
      expect(await listed({ fundId: randomUUID() })).toEqual([]);
    });

    test('tells which of some operations still wait', async () => {
      const { applicationId } = fund;
      const named = ['A', 'F', 'C', 'NONE'].map((code) => ({ applicationId, code }));
      const still = await desk.stillWaiting([...named, { applicationId: randomUUID(), code: 'B' }]);
      expect(still.map(({ code, status }) => [code, status]).toSorted()).toEqual([
        ['A', 'received'],
        ['C', 'approved'],
      ]);
      expect(await desk.stillWaiting([])).toEqual([]);
    });

    test('sums what falls due on some days, of active operations alone', async () => {
      const dueOn = async (from: string, to: string) =>
        (await desk.fallingDue(calendarDate(from), calendarDate(to))).filter(
          ({ fundId }) => fundId === fund.fundId,
        );
      const third = fund.loan('F').installments[2]!;
      // The first two of F are paid; H owes all.
      expect(await dueOn('2026-01-01', third.dueDate)).toEqual([
        { fundId: fund.fundId, installments: 4, faceValue: 4 * third.faceValue },
      ]);
      expect(await dueOn('2020-01-01', '2020-12-31')).toEqual([]);
    });

    test('sums what was notified on some days, by kind', async () => {
      const notified = async (from: string, to: string) =>
        (await desk.notified(calendarDate(from), calendarDate(to))).filter(
          ({ fundId }) => fundId === fund.fundId,
        );
      expect(await notified(DAY, DAY)).toEqual([
        { fundId: fund.fundId, kind: 'settlement', payments: 2, amount: 189_000 },
      ]);
      const kinds = (await notified('2020-01-01', '2030-12-31')).map(({ kind, payments }) => [
        kind,
        payments,
      ]);
      expect(kinds).toEqual([
        ['repurchase', 1],
        ['settlement', 2],
      ]);
      expect(await notified('2020-01-01', '2020-12-31')).toEqual([]);
    });

    test('of some funds alone, lists, sums and finds nothing of others, in full pages', async () => {
      const some = desk.of([fund.fundId, other.fundId]);
      const only = desk.of([other.fundId]);
      const ever = [calendarDate('2020-01-01'), calendarDate('2030-12-31')] as const;
      const codes = async (lists: Worklists, query: object = {}) =>
        (await lists.worklist({ limit: 50, ...query })).map(({ code }) => code).toSorted();
      expect(await codes(some)).toEqual(['A', 'A', 'B', 'C', 'D', 'E']);
      expect(await codes(some, { status: 'received' })).toEqual(['A', 'A', 'B']);
      expect(await codes(some, { fundId: fund.fundId, status: 'received' })).toEqual(['A', 'B']);
      expect([await codes(only), await codes(only, { fundId: fund.fundId })]).toEqual([['A'], []]);
      expect(await codes(some, { limit: 1 })).toHaveLength(2);
      const groups = (await only.waiting()).map(({ fundId, operations }) => [fundId, operations]);
      expect(groups).toEqual([[other.fundId, 1]]);
      expect([await only.fallingDue(...ever), await only.notified(...ever)]).toEqual([[], []]);
      expect((await some.fallingDue(...ever)).map(({ fundId }) => fundId)).toEqual([fund.fundId]);
      expect((await some.notified(...ever)).every(({ fundId }) => fundId === fund.fundId)).toBe(true);
      expect(await only.stillWaiting([{ applicationId: fund.applicationId, code: 'A' }])).toEqual([]);
      expect(desk.of(undefined)).toBe(desk);
    });
  });
};
