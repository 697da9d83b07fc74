import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Worklists } from '../../application/administrator/worklists.ts';
import type { WaitingPlace } from '../../application/administrator/worklists.ts';
import { addDays, calendarDate, daysBetween } from '../../domain/shared/calendar-date.ts';
import type { CalendarDate } from '../../domain/shared/calendar-date.ts';
import { loanStream } from '../../application/command-handling/operation.ts';
import { Exposures } from '../../application/loans/decision-facts.ts';
import type { Privacy } from '../../application/privacy/privacy.ts';
import type { SqlDatabase } from '../../application/sql/sql-database.ts';
import {
  approved,
  becameOverdue,
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
    let database: SqlDatabase;
    let desk: Worklists;
    let fund: FundUnderTest;
    let other: FundUnderTest;
    let late: FundUnderTest;

    beforeAll(async () => {
      const opened = await open();
      close = () => opened.close();
      database = opened.database;
      desk = new Worklists(database);
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
      late = new FundUnderTest(opened.database);
      const months = ['001', '002', '003'].map(becameOverdue);
      await late.tell('A', [late.loan('A'), ...ACTIVE, ...months]);
      await late.tell('B', [late.loan('B'), ...ACTIVE, ...months.slice(0, 1)]);
      await late.tell('C', [late.loan('C'), ...ACTIVE, ...months.slice(0, 2), paid('001')]);
      await late.tell('D', [late.loan('D'), ...ACTIVE, ...months, repurchaseRequested('repurchase')]);
    });
    afterAll(() => close());

    test('a borrower owes nothing on an operation that is being repurchased, overdue installments included', async () => {
      const stream = (code: string) => loanStream(late.applicationId, code);
      const streams = ['A', 'B', 'C', 'D'].map(stream);
      const privacy = {
        streamsOfSame: async () => streams,
        tell: async () => new Map(streams.map((one) => [one, 'same'])),
      } as unknown as Privacy;
      const exposures = new Exposures(database, () => privacy);
      const found = await exposures.of({ applicationId: late.applicationId, code: 'A' });
      // Beside A: twelve installments of 950.00 of B, eleven of C, which paid one, and none of D.
      expect(found?.borrower).toMatchObject({ active: { operations: 3 }, openFaceValue: 2_185_000 });
    });

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
      const { fundId } = fund;
      const days = fund.loan('F').installments.slice(0, 3);
      expect(await dueOn('2026-01-01', third.dueDate)).toEqual(
        days.map(({ dueDate, faceValue }) => {
          const installments = dueDate === third.dueDate ? 2 : 1;
          return { fundId, day: dueDate, installments, faceValue: installments * faceValue };
        }),
      );
      expect(await dueOn('2020-01-01', '2020-12-31')).toEqual([]);
    });

    test('sums what active operations are overdue with, by the oldest of each, and names the worst', async () => {
      const [first, second] = late.loan('A').installments;
      const face = first!.faceValue;
      const on = (day: CalendarDate, days: number) => addDays(day, days);
      const of = desk.of([late.fundId]);
      const { bands, worst } = await of.overdue(on(first!.dueDate, 91));
      const between = daysBetween(first!.dueDate, second!.dueDate);
      expect(bands).toEqual([
        { from: 61, to: 90, operations: 1, installments: 1, faceValue: face },
        { from: 91, to: 180, operations: 2, installments: 4, faceValue: 4 * face },
      ]);
      expect(worst.map(({ code, days, installments }) => [code, days, installments])).toEqual([
        ['A', 91, 3],
        ['B', 91, 1],
        ['C', 91 - between, 1],
      ]);
      const young = (await of.overdue(on(first!.dueDate, 1))).bands.map(({ from }) => from);
      const old = (await of.overdue(on(second!.dueDate, 181))).bands;
      expect([young, old.map(({ from, to }) => [from, to])]).toEqual([[1], [[181, null]]]);
      expect(await desk.of([other.fundId]).overdue(DAY)).toEqual({ bands: [], worst: [] });
      expect((await desk.overdue(on(first!.dueDate, 91))).bands.length).toBeGreaterThan(0);
    });

    test('sums what was notified on some days, by kind', async () => {
      const notified = async (from: string, to: string) =>
        (await desk.notified(calendarDate(from), calendarDate(to))).filter(
          ({ fundId }) => fundId === fund.fundId,
        );
      expect(await notified(DAY, DAY)).toEqual([
        { fundId: fund.fundId, day: DAY, kind: 'settlement', payments: 2, amount: 189_000 },
      ]);
      const kinds = (await notified('2020-01-01', '2030-12-31')).map(({ kind, payments }) => [
        kind,
        payments,
      ]);
      expect(kinds.toSorted()).toEqual([
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
      expect((await some.fallingDue(...ever)).every(({ fundId }) => fundId === fund.fundId)).toBe(true);
      expect((await some.notified(...ever)).every(({ fundId }) => fundId === fund.fundId)).toBe(true);
      expect(await only.stillWaiting([{ applicationId: fund.applicationId, code: 'A' }])).toEqual([]);
      expect(desk.of(undefined)).toBe(desk);
    });
  });
};
