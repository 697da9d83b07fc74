import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { presentValue, presentValuesOn } from '../../../domain/curve/present-value.ts';
import { addDays, calendarDate } from '../../../domain/shared/calendar-date.ts';
import type { InstallmentCode } from '../../../domain/shared/identifiers.ts';
import { cents } from '../../../domain/shared/money.ts';
import { ISSUED, anyDate, anyPosition, extremePosition, solved } from '../support/positions.ts';

describe('present values of many operations on one date', () => {
  test.each([
    ['credit as it is assigned', anyPosition, 150],
    ['the edges', extremePosition, 20],
  ] as const)('are the exact ones to the cent: %s', (_, positions, numRuns) => {
    const credited = fc.tuple(positions, anyDate, fc.integer({ min: 1, max: 9_999 }), fc.nat(400));
    fc.assert(
      fc.property(credited, ([position, date, credit, after]) => {
        const factor = solved(position);
        const credits = [{ value: `${credit}.474364387512345678901234567890`, date: addDays(ISSUED, after) }];
        for (const open of [
          position.installments,
          position.installments.map((one, i) => (i === 0 ? { ...one, credits } : one)),
        ])
          expect(presentValuesOn(date)(factor, open)).toEqual(presentValue(factor, open, date));
      }),
      { numRuns },
    );
  });

  test('are exact after thousands of small credits, each of which the sum rounds the same way', () => {
    const [factor, due] = ['0.999321899697897308243314396013', calendarDate('2026-02-13')];
    const credits = Array.from({ length: 6_000 }, () => ({
      value: '0.01',
      date: calendarDate('2026-01-20'),
    }));
    const open = [
      { code: '001' as InstallmentCode, dueDate: due, faceValue: cents(99_999_999_987), credits },
    ];
    expect(presentValuesOn(due)(factor, open)).toEqual(presentValue(factor, open, due));
  });

  test('round half a cent up, where a float alone could not know', () => {
    const date = addDays(ISSUED, 10);
    const credit = { value: '0.005', date };
    const open = [
      { code: '001' as InstallmentCode, dueDate: date, faceValue: cents(100), credits: [credit] },
    ];
    expect(presentValuesOn(date)('1', open).total).toBe(100);
  });
});
