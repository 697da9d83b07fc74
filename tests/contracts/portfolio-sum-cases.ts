import { expect } from '@jest/globals';
import fc from 'fast-check';
import { presentValue } from '../../domain/curve/present-value.ts';
import type { LoanEvent } from '../../domain/loan/index.ts';
import { calendarDate } from '../../domain/shared/calendar-date.ts';
import { LARGEST_AMOUNT } from '../../domain/shared/money.ts';
import { paid, repurchaseCompleted, repurchaseRequested } from '../domain/support/loan-story.ts';
import { anyDate } from '../domain/support/positions.ts';
import { anyStory } from '../domain/support/stories.ts';
import { active } from './fund-side-samples.ts';
import type { FundUnderTest } from './fund-side-samples.ts';
import type { Promised } from './promises.ts';

/** What one operation held on a day, told from its events in the plainest way. */
const heldBy = (events: readonly LoanEvent[], date: string) => {
  const loan = events.find((event) => event.type === 'LoanReceived')!;
  const upTo = events.filter(
    (event) =>
      (event.type === 'InstallmentSettled' && event.settledAt <= date) ||
      (event.type === 'PrepaymentProcessed' && event.prepaymentDate <= date),
  );
  const closed = new Set(
    upTo.flatMap((event) =>
      event.type === 'InstallmentSettled'
        ? [event.installmentCode]
        : event.type === 'PrepaymentProcessed'
          ? event.settledInstallments
          : [],
    ),
  );
  const credits = upTo.flatMap((event) =>
    event.type === 'PrepaymentProcessed' && event.partial ? [event.partial] : [],
  );
  const request = events.find((event) => event.type === 'RepurchaseRequested');
  const gone =
    request !== undefined &&
    request.effectiveDate <= date &&
    events.some((event) => event.type === 'RepurchaseCompleted');
  const bought = date >= '2026-06-20';
  const open = loan.installments
    .filter(({ code }) => bought && !gone && !closed.has(code))
    .map((one) => ({
      ...one,
      credits: credits.filter(({ installmentCode }) => installmentCode === one.code).map((c) => c.credit),
    }));
  const { total } = presentValue(loan.pricing.dailyFactor, open, calendarDate(date));
  return {
    operation: open.length > 0 ? 1 : 0,
    installments: open.length,
    presentValue: total > LARGEST_AMOUNT ? 0 : total,
  };
};

export const portfolioSumCases: readonly Promised<FundUnderTest>[] = [
  {
    name: 'an operation worth more than an amount can say counts, is named, and is in no present value',
    check: async (fund) => {
      await fund.tell('PLAIN', active(fund.loan('PLAIN')));
      const { open, overdue, buckets } = await fund.on('2026-06-20');
      const pricing = { policy: 'curve_v1', dailyFactor: '0.8' } as const;
      await fund.tell('CHEAP', active(fund.loan('CHEAP', { pricing })));
      const both = await fund.on('2026-06-20');
      expect([both.operations, both.open.installments, both.open.faceValue]).toEqual([
        ...[2, 2 * open.installments, 2 * open.faceValue],
      ]);
      expect(both.open.presentValue).toBe(open.presentValue);
      expect(both.overdue.presentValue).toBe(overdue.presentValue);
      const presentValues = ({ presentValue: value }: { readonly presentValue: number }) => value;
      expect(both.buckets.map(presentValues)).toEqual(buckets.map(presentValues));
      expect(both.withoutPresentValue).toEqual({
        operations: 1,
        faceValue: open.faceValue,
        named: [{ applicationId: fund.applicationId, code: 'CHEAP' }],
      });
    },
  },
  {
    name: 'built again from the same events, the read models answer the same',
    check: async (fund) => {
      const [first, second] = ['A', 'B'].map((code) => [
        ...active(fund.loan(code)),
        paid('001'),
        paid('002', '900.00'),
      ]);
      await fund.tell('A', [
        ...first!,
        repurchaseRequested('resolution'),
        repurchaseCompleted('resolution', 'resolved'),
      ]);
      await fund.tell('B', second!);
      const answers = async () => [
        await fund.on('2026-03-20'),
        await fund.on('2026-06-20'),
        await Array.fromAsync(
          fund.payments.within({
            ...{ fundId: fund.fundId, from: calendarDate('2026-01-01') },
            to: calendarDate('2026-12-31'),
          }),
        ),
      ];
      const before = await answers();
      await fund.rebuild();
      expect(await answers()).toEqual(before);
    },
  },
  {
    name: 'a fund holds the sum of what its operations hold, on any day and after any stories',
    check: async (fund) => {
      let told = 0;
      const everything: (readonly LoanEvent[])[] = [];
      const step = fc.tuple(
        fc.array(anyStory, { minLength: 1, maxLength: 3 }),
        fc.array(anyDate, { maxLength: 2 }),
      );
      await fc.assert(
        fc.asyncProperty(step, async ([stories, dates]) => {
          for (const { events } of stories) {
            const code = `S-${told++}`;
            const mine = events.map((event) =>
              event.type === 'LoanReceived' ? fund.loan(code, event) : event,
            );
            everything.push(mine);
            await fund.tell(code, mine);
          }
          for (const date of dates) {
            const { operations, open } = await fund.on(date);
            const held = everything.map((events) => heldBy(events, date));
            const sum = (key: 'operation' | 'installments' | 'presentValue') =>
              held.reduce((total, one) => total + one[key], 0);
            expect([operations, open.installments]).toEqual([sum('operation'), sum('installments')]);
            expect(open.presentValue).toBe(sum('presentValue'));
          }
        }),
        { numRuns: 15, seed: 20_260_620, endOnFailure: true },
      );
    },
  },
];
