import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { VALUE_CEILING } from '../../../domain/curve/decimal.ts';
import { outstandingAtDueDate, presentValue } from '../../../domain/curve/present-value.ts';
import type { OpenInstallment } from '../../../domain/installment/installment.ts';
import { addDays, calendarDate } from '../../../domain/shared/calendar-date.ts';
import { addCents } from '../../../domain/shared/money.ts';
import { L1, centsOf, opened, scheduleOf, vectors } from '../support/finance-vectors.ts';
import { ISSUED, anyDate, anyPosition, extremePosition, solved } from '../support/positions.ts';

const openOf = (loan: typeof L1, codes: readonly string[]): readonly OpenInstallment[] =>
  scheduleOf(loan)
    .filter(({ code }) => codes.includes(code))
    .map(opened);

const cases = vectors.present_value.flatMap((loan) =>
  loan.present_values.map((value) => ({ loan, value, label: `${loan.name}, ${value.open.length} open` })),
);

describe('present value of the published cases', () => {
  test.each(cases)('$label on $value.effective_date, line by line', ({ loan, value }) => {
    const { total, lines } = presentValue(
      loan.daily_factor,
      openOf(loan, value.open),
      calendarDate(value.effective_date),
    );
    expect(total).toBe(centsOf(value.repurchase_value));
    expect(lines).toEqual(
      value.open.map((code, i) => ({
        installmentCode: code,
        presentValue: centsOf(value.lines[i] ?? 'no line'),
      })),
    );
  });

  test('interest accrued on L1 in the five days after the fifth payment is 20.82', () => {
    const open = openOf(L1, ['006', '007', '008', '009', '010', '011', '012']);
    const [before, after] = ['2026-06-15', '2026-06-20'].map(
      (date) => presentValue(L1.daily_factor, open, calendarDate(date)).total,
    );
    expect(after! - before!).toBe(centsOf('20.82'));
  });
});

describe('present value of any operation', () => {
  test('on the day of the issue is the acquisition value', () => {
    fc.assert(
      fc.property(fc.oneof(anyPosition, extremePosition), (position) => {
        const { total } = presentValue(solved(position), position.installments, ISSUED);
        expect(total).toBe(position.acquisitionValue);
      }),
      { numRuns: 80 },
    );
  });

  test('is the sum of its lines on every day', () => {
    fc.assert(
      fc.property(anyPosition, anyDate, (position, date) => {
        const { total, lines } = presentValue(solved(position), position.installments, date);
        expect(addCents(...lines.map((line) => line.presentValue))).toBe(total);
      }),
      { numRuns: 80 },
    );
  });

  test('of a single installment on its due date is its face value', () => {
    fc.assert(
      fc.property(anyPosition, (position) => {
        const factor = solved(position);
        for (const installment of position.installments) {
          expect(presentValue(factor, [installment], installment.dueDate).total).toBe(installment.faceValue);
        }
      }),
      { numRuns: 20 },
    );
  });

  test('never depends on the order in which the installments are listed', () => {
    fc.assert(
      fc.property(anyPosition, anyDate, (position, date) => {
        const factor = solved(position);
        const reversed = position.installments.toReversed();
        expect(presentValue(factor, reversed, date).total).toBe(
          presentValue(factor, position.installments, date).total,
        );
      }),
      { numRuns: 40 },
    );
  });

  test('of nothing open is nothing', () => {
    expect(presentValue(L1.daily_factor, [], ISSUED)).toEqual({ total: 0, lines: [] });
  });

  test('stays an amount, at the ceiling, where a one-day loan outgrows every number', () => {
    fc.assert(
      fc.property(extremePosition, fc.integer({ min: 0, max: 36_500 }), (position, days) => {
        const { total, lines } = presentValue(solved(position), position.installments, addDays(ISSUED, days));
        expect(total).toBeGreaterThanOrEqual(0);
        expect(total).toBeLessThanOrEqual(VALUE_CEILING);
        expect(addCents(...lines.map((line) => line.presentValue))).toBe(total);
      }),
      { numRuns: 60 },
    );
  });
});

describe('what an installment owes on its due date', () => {
  const [installment] = openOf(L1, ['009']);
  if (!installment) throw new Error('L1 has an installment 009');

  test('is its face value without credits', () => {
    expect(outstandingAtDueDate(L1.daily_factor, installment)).toBe(centsOf('950.00'));
  });

  test('is what a credit leaves, the credit grown along the curve until then', () => {
    const credits = [{ value: '474.3643875750', date: calendarDate('2026-06-20') }];
    expect(outstandingAtDueDate(L1.daily_factor, { ...installment, credits })).toBe(centsOf('436.45'));
  });

  test('lies between nothing and the face value, whatever fraction of a cent a credit misses', () => {
    const owed = (value: string) =>
      outstandingAtDueDate(L1.daily_factor, {
        ...installment,
        credits: [{ value, date: calendarDate('2026-06-20') }],
      });
    expect(owed('-0.005')).toBe(centsOf('950.00'));
    expect(owed('5000')).toBe(0);
  });
});
