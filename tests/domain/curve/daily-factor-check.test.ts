import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { isDailyFactor } from '../../../domain/curve/daily-factor-check.ts';
import { solveDailyFactor } from '../../../domain/curve/daily-factor.ts';
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
