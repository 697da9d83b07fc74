import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { isDailyFactor, solveDailyFactor } from '../../../domain/curve/daily-factor.ts';
import { addDays } from '../../../domain/shared/calendar-date.ts';
import type { CalendarDate } from '../../../domain/shared/calendar-date.ts';
import type { Cents } from '../../../domain/shared/money.ts';
import { centsOf, scheduleOf, vectors } from '../support/finance-vectors.ts';

const ISSUED = '2026-01-15' as CalendarDate;
/** The neighbour in the last digit. */
const nextTo = (factor: string): string =>
  factor.slice(0, -1) + (factor.endsWith('9') ? '8' : Number(factor.at(-1)) + 1);

describe('a daily factor is confirmed', () => {
  test.each(vectors.present_value)('of a vector, and its neighbours are not', (loan) => {
    const schedule = {
      acquisitionValue: centsOf(loan.acquisition_value),
      dateIssued: loan.date_issued as CalendarDate,
      installments: scheduleOf(loan),
    };
    const factor = solveDailyFactor(schedule.acquisitionValue, schedule.dateIssued, schedule.installments);
    expect(isDailyFactor(factor, schedule)).toBe(true);
    expect(isDailyFactor(nextTo(factor), schedule)).toBe(false);
  });

  test('of any schedule, above one and below a tenth as well', () => {
    const one = fc.record({
      days: fc.integer({ min: 1, max: 4_000 }),
      face: fc.integer({ min: 1, max: 10 ** 9 }),
    });
    const price = fc.integer({ min: 1, max: 10 ** 10 });
    fc.assert(
      fc.property(price, fc.array(one, { minLength: 1, maxLength: 20 }), (value, parts) => {
        const installments = parts.map(({ days, face }) => ({
          dueDate: addDays(ISSUED, days),
          faceValue: face as Cents,
        }));
        const schedule = { acquisitionValue: value as Cents, dateIssued: ISSUED, installments };
        const factor = solveDailyFactor(schedule.acquisitionValue, ISSUED, installments);
        return isDailyFactor(factor, schedule) && !isDailyFactor(nextTo(factor), schedule);
      }),
      { numRuns: 60 },
    );
  });

  test('and its neighbour is not where the root lies almost in the middle between both', () => {
    // The root is 1.001100354694428649321223087472 4987, by bisection with 80 digits.
    const installments = (
      [
        [2_173, 562_279_806],
        [705, 459_187_221],
      ] as const
    ).map(([days, face]) => ({ dueDate: addDays(ISSUED, days), faceValue: face as Cents }));
    const schedule = { acquisitionValue: 7_131_972_116 as Cents, dateIssued: ISSUED, installments };
    expect(isDailyFactor('1.001100354694428649321223087472', schedule)).toBe(true);
    expect(isDailyFactor('1.001100354694428649321223087473', schedule)).toBe(false);
  });

  test.each(['', 'abc', '0.99', '-0.998275000309516064336853526270', `0.${'0'.repeat(30)}`])(
    'unlike %j, which is no factor',
    (text) => {
      const installments = [{ dueDate: addDays(ISSUED, 30), faceValue: 100_000 as Cents }];
      expect(
        isDailyFactor(text, { acquisitionValue: 95_000 as Cents, dateIssued: ISSUED, installments }),
      ).toBe(false);
    },
  );
});
