import { describe, expect, test } from '@jest/globals';
import { Decimal } from 'decimal.js';
import fc from 'fast-check';
import { solveDailyFactor } from '../../../domain/curve/daily-factor.ts';
import { addDays, calendarDate, daysBetween } from '../../../domain/shared/calendar-date.ts';
import { cents } from '../../../domain/shared/money.ts';
import { centsOf, scheduleOf, vectors } from '../support/finance-vectors.ts';
import { ISSUED, anyPosition, extremePosition, shortPosition, solved } from '../support/positions.ts';
import type { Position } from '../support/positions.ts';

/** A constructor of the test's own, wider than the curve's. */
const Wide = Decimal.clone({ defaults: true, precision: 90 });

/** From the last due date to the first: what is due later is brought to each, and all of it to the issue. */
const valueAtIssue = ({ installments }: Position, v: Decimal): Decimal =>
  installments.reduceRight((later, { dueDate, faceValue }, i) => {
    const days = daysBetween(installments[i - 1]?.dueDate ?? ISSUED, dueDate);
    return later.plus(faceValue).times(new Wide(v).pow(days));
  }, new Wide(0));

/** Halves an interval that holds the root until nothing of it is left within the digits that count. */
const bisect = (position: Position, digits: number): string => {
  let [low, high] = [new Wide(0), new Wide(1)];
  while (valueAtIssue(position, high).lt(position.acquisitionValue)) high = high.times(2);
  for (let i = 0; i < 4 * (digits + 4) + 40; i += 1) {
    const middle = low.plus(high).div(2);
    if (valueAtIssue(position, middle).gt(position.acquisitionValue)) high = middle;
    else low = middle;
  }
  return low.plus(high).div(2).toFixed(digits);
};

/** Newton's steps with 50 digits, rounded half up: the method that gave the factors of the first releases. */
const Exact = Decimal.clone({ defaults: true, precision: 50, rounding: Decimal.ROUND_HALF_UP });
const inDecimals = ({ acquisitionValue, installments }: Position, near: string): string => {
  let v = new Exact(Number(near));
  for (let step = new Exact(1); step.abs().gt(v.times('1e-24')); v = v.minus(step)) {
    let [missed, weighted] = [new Exact(acquisitionValue).neg(), new Exact(0)];
    for (const { dueDate, faceValue } of installments) {
      const days = daysBetween(ISSUED, dueDate);
      const term = v.pow(days).times(faceValue);
      missed = missed.plus(term);
      weighted = weighted.plus(term.times(days));
    }
    step = missed.times(v).div(weighted);
  }
  return v.toFixed(Math.max(30, 29 - v.e));
};

/** v^-365 - 1 with ten decimals. */
const annualEffectiveRate = (dailyFactor: string): string =>
  new Decimal(dailyFactor).pow(-365).minus(1).toFixed(10);

describe('daily factor of the published cases', () => {
  test.each(vectors.present_value)('$name, to all digits', (loan) => {
    const factor = solveDailyFactor(
      centsOf(loan.acquisition_value),
      calendarDate(loan.date_issued),
      scheduleOf(loan),
    );
    expect(factor).toBe(loan.daily_factor);
  });

  test('the sample that Excel publishes for XIRR gives its rate', () => {
    // 10000 paid on 2008-01-01, four flows back; the documented result is 37.3362535 %.
    const flows = [
      { dueDate: calendarDate('2008-03-01'), faceValue: centsOf('2750.00') },
      { dueDate: calendarDate('2008-10-30'), faceValue: centsOf('4250.00') },
      { dueDate: calendarDate('2009-02-15'), faceValue: centsOf('3250.00') },
      { dueDate: calendarDate('2009-04-01'), faceValue: centsOf('2750.00') },
    ];
    const factor = solveDailyFactor(centsOf('10000.00'), calendarDate('2008-01-01'), flows);
    expect(Number(annualEffectiveRate(factor))).toBeCloseTo(0.373362535, 7);
  });
});

describe('daily factor of any operation', () => {
  test('is the one that plain bisection finds', () => {
    fc.assert(
      fc.property(shortPosition, (position) => {
        const factor = solved(position);
        const digits = factor.length - factor.indexOf('.') - 1;
        expect(factor).toBe(bisect(position, digits));
      }),
      { numRuns: 20 },
    );
  });

  test('is the root, correct in its last digit: half a unit less is too little, half a unit more too much', () => {
    fc.assert(
      fc.property(fc.oneof(anyPosition, extremePosition), (position) => {
        const factor = solved(position);
        const half = new Wide(10).pow(-(factor.length - factor.indexOf('.') - 1)).div(2);
        const at = (shift: Decimal) => valueAtIssue(position, new Wide(factor).plus(shift));
        expect(at(half.neg()).lte(position.acquisitionValue)).toBe(true);
        expect(at(half).gte(position.acquisitionValue)).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  test('is digit for digit the one that decimals give, in whatever order installments stand', () => {
    const shuffled = fc
      .oneof(anyPosition, extremePosition, shortPosition)
      .chain((position) =>
        fc
          .shuffledSubarray([...position.installments], { minLength: position.installments.length })
          .map((installments) => ({ ...position, installments })),
      );
    fc.assert(
      fc.property(shuffled, (position) => {
        expect(solved(position)).toBe(inDecimals(position, solved(position)));
      }),
      { numRuns: 40 },
    );
  });

  test('is rounded half up where it ends in a five behind the last digit', () => {
    const price = fc.integer({ min: 0, max: 40_000_000_000 }).map((half) => 2 * half + 1);
    fc.assert(
      // A price over a power of two ends one digit after the last that is kept.
      fc.property(price, fc.integer({ min: 31, max: 36 }), (value, binaryDigits) => {
        const faceValue = cents(2 ** binaryDigits);
        const factor = solveDailyFactor(cents(value), ISSUED, [{ dueDate: addDays(ISSUED, 1), faceValue }]);
        const digits = factor.length - factor.indexOf('.') - 1;
        expect(factor).toBe(new Wide(value).div(faceValue).toFixed(digits, Decimal.ROUND_HALF_UP));
      }),
    );
  });

  test('carries at least 30 significant digits, whatever its size', () => {
    fc.assert(
      fc.property(extremePosition, (position) => {
        const digits = solved(position).replace('.', '').replace(/^0+/, '');
        expect(solved(position)).toMatch(/^\d+\.\d{30,}$/);
        expect(digits.length).toBeGreaterThanOrEqual(30);
      }),
      { numRuns: 60 },
    );
  });

  test('stands above 1 exactly when the faces add up to less than the price', () => {
    fc.assert(
      fc.property(anyPosition, (position) => {
        const faces = position.installments.reduce((sum, { faceValue }) => sum + faceValue, 0);
        const compared = new Decimal(solved(position)).cmp(1);
        expect(compared).toBe(Math.sign(position.acquisitionValue - faces));
      }),
      { numRuns: 60 },
    );
  });

  test('does not exist without a positive price, positive faces and due dates after the issue', () => {
    const one = { dueDate: calendarDate('2026-02-15'), faceValue: centsOf('100.00') };
    const attempt = (price: string, installments: readonly (typeof one)[]) => () =>
      solveDailyFactor(centsOf(price), ISSUED, installments);
    expect(attempt('90.00', [])).toThrow(RangeError);
    expect(attempt('0.00', [one])).toThrow(RangeError);
    expect(attempt('90.00', [{ ...one, faceValue: centsOf('0.00') }])).toThrow(RangeError);
    expect(attempt('90.00', [{ ...one, dueDate: ISSUED }])).toThrow(RangeError);
  });
});
