import { describe, expect, test } from '@jest/globals';
import { Decimal } from 'decimal.js';
import fc from 'fast-check';
import { VALUE_CEILING } from '../../../domain/curve/decimal.ts';
import { allocatePrepayment } from '../../../domain/curve/prepayment.ts';
import type { Allocation } from '../../../domain/curve/prepayment.ts';
import { presentValue } from '../../../domain/curve/present-value.ts';
import type { OpenInstallment } from '../../../domain/installment/installment.ts';
import { calendarDate } from '../../../domain/shared/calendar-date.ts';
import type { CalendarDate } from '../../../domain/shared/calendar-date.ts';
import { addCents, cents, subtractCents } from '../../../domain/shared/money.ts';
import type { Cents } from '../../../domain/shared/money.ts';
import { L1, centsOf, opened, scheduleOf, vectors } from '../support/finance-vectors.ts';
import { installmentCode } from '../support/loan-story.ts';
import { anyDate, anyPosition, solved } from '../support/positions.ts';

const openExcept = (paid: readonly string[]): readonly OpenInstallment[] =>
  scheduleOf(L1)
    .filter(({ code }) => !paid.includes(code))
    .map(opened);

/** What stays open once the allocation is carried out. */
const after = (open: readonly OpenInstallment[], { settledInstallments, partial }: Allocation) =>
  open
    .filter(({ code }) => !settledInstallments.includes(code))
    .map((installment) =>
      partial?.installmentCode === installment.code
        ? { ...installment, credits: [...installment.credits, partial.credit] }
        : installment,
    );

describe('allocation of the published cases', () => {
  test.each(vectors.prepayment_on_L1)('$name: $prepayment_value', (vector) => {
    const open = openExcept(vector.paid_in_full_before);
    const date = calendarDate(vector.prepayment_date);
    const allocation = allocatePrepayment(L1.daily_factor, open, {
      value: centsOf(vector.prepayment_value),
      date,
    });
    expect(allocation.settledInstallments).toEqual(vector.settled_installments);
    expect(allocation.remainingBalance).toBe(centsOf(vector.remaining_balance));
    expect(allocation.excessValue).toBe(centsOf(vector.excess_value));
    expect(after(open, allocation).length === 0).toBe(vector.loan_settled);
    expect(
      allocation.partial && [allocation.partial.installmentCode, allocation.partial.outstandingAtDue],
    ).toEqual(
      vector.partial
        ? [vector.partial.installment_code, centsOf(vector.partial.outstanding_at_due)]
        : undefined,
    );
  });

  test.each([
    ['3000.00', ['001', '002', '003', '004', '005'], '474.3643875750'],
    ['2500.00', ['001', '002', '003'], '573.2879868182'],
    ['100.00', ['001', '002', '003', '004', '005'], '100.0000000000'],
  ])('the credit that %s leaves is exact', (value, paid, credit) => {
    const date = calendarDate('2026-06-20');
    const allocation = allocatePrepayment(L1.daily_factor, openExcept(paid), { value: centsOf(value), date });
    expect(new Decimal(allocation.partial?.credit.value ?? 'none').toFixed(10)).toBe(credit);
    expect(allocation.partial?.credit.date).toBe(date);
  });
});

describe('order of allocation', () => {
  const dueOn = (code: string, dueDate: string): OpenInstallment => ({
    ...opened({ code: installmentCode(code), dueDate: calendarDate(dueDate), faceValue: centsOf('100.00') }),
  });
  const par = '1.000000000000000000000000000000';
  const open = [
    dueOn('d', '2026-05-10'),
    dueOn('c', '2026-03-10'),
    dueOn('b', '2026-05-10'),
    dueOn('a', '2026-02-10'),
    dueOn('e', '2026-04-10'),
  ];

  test('overdue from the oldest, then from the last due date backwards, ties by code', () => {
    const payment = { value: centsOf('450.00'), date: calendarDate('2026-04-10') };
    const allocation = allocatePrepayment(par, open, payment);
    expect(allocation.settledInstallments).toEqual(['a', 'c', 'b', 'd']);
    expect(allocation.partial).toEqual({
      installmentCode: 'e',
      credit: { value: '50', date: '2026-04-10' },
      outstandingAtDue: centsOf('50.00'),
    });
    expect(allocation.lines).toEqual([
      { installmentCode: 'a', presentValue: centsOf('100.00'), paidOff: true },
      { installmentCode: 'c', presentValue: centsOf('100.00'), paidOff: true },
      { installmentCode: 'b', presentValue: centsOf('100.00'), paidOff: true },
      { installmentCode: 'd', presentValue: centsOf('100.00'), paidOff: true },
      { installmentCode: 'e', presentValue: centsOf('100.00'), paidOff: false },
    ]);
  });

  describe('rounding that leaves less than nothing', () => {
    // A quarter a day: the first is worth 50.0025, which 50.00 pays off; a quarter of a cent is missing for good.
    const quarter = '0.250000000000000000000000000000';
    const tomorrow = '2026-04-11';
    const date = calendarDate('2026-04-10');
    const two = [{ ...dueOn('a', tomorrow), faceValue: centsOf('200.01') }, dueOn('b', tomorrow)];
    const paid = { value: centsOf('50.00'), date };
    const missing = {
      installmentCode: 'b',
      credit: { value: '-0.0025', date: '2026-04-10' },
      outstandingAtDue: centsOf('100.00'),
    };
    const line = { installmentCode: 'a', presentValue: centsOf('50.00'), paidOff: true };

    test('is carried exactly, makes nothing owe more than its face value, and is no line', () => {
      const allocation = allocatePrepayment(quarter, two, paid);
      expect(allocation).toMatchObject({ settledInstallments: ['a'], partial: missing, lines: [line] });
      const left = presentValue(quarter, after(two, allocation), date).total;
      expect([allocation.remainingBalance, left]).toEqual([centsOf('25.00'), centsOf('25.00')]);
    });

    test('was a line to those who recorded it so', () => {
      const { lines, partial } = allocatePrepayment(quarter, two, { ...paid, leftover: 'told' });
      expect(partial).toEqual(missing);
      expect(lines).toEqual([line, { installmentCode: 'b', presentValue: centsOf('25.00'), paidOff: false }]);
    });
  });

  test('a value that ends on an installment leaves no credit', () => {
    const payment = { value: centsOf('200.00'), date: calendarDate('2026-04-10') };
    const allocation = allocatePrepayment(par, open, payment);
    expect(allocation.settledInstallments).toEqual(['a', 'c']);
    expect(allocation).not.toHaveProperty('partial');
    expect(allocation.lines.every((line) => line.paidOff)).toBe(true);
  });
});

describe('fractions of a cent', () => {
  const dueTomorrow = (code: string): OpenInstallment =>
    opened({
      code: installmentCode(code),
      dueDate: calendarDate('2026-04-11'),
      faceValue: centsOf('100.01'),
    });

  test('an installment is paid off by its rounded value, and the next one carries the fraction that was missing', () => {
    // Each is worth 25.0025 today.
    const payment = { value: centsOf('25.00'), date: calendarDate('2026-04-10') };
    const allocation = allocatePrepayment('0.25', [dueTomorrow('a'), dueTomorrow('b')], payment);
    expect(allocation).toMatchObject({
      payoffValue: centsOf('50.01'),
      settledInstallments: ['a'],
      partial: {
        installmentCode: 'b',
        credit: { value: '-0.0025' },
        outstandingAtDue: centsOf('100.01'),
      },
      remainingBalance: centsOf('25.01'),
    });
  });
});

/** An operation, a day, and a value as a part of what would pay it off then. */
const anyPayment = fc
  .tuple(anyPosition, anyDate, fc.double({ min: 0, max: 1.1, noNaN: true }))
  .map(([position, date, part]) => {
    const factor = solved(position);
    const payoff = presentValue(factor, position.installments, date).total;
    return {
      factor,
      open: position.installments,
      date,
      payoff,
      value: cents(Math.max(1, Math.floor(payoff * part))),
    };
  })
  // At the ceiling a value is no longer the true one; the decider refuses to act there.
  .filter(({ payoff }) => payoff < VALUE_CEILING);

const payoffOf = (factor: string, open: readonly OpenInstallment[], date: CalendarDate): Cents =>
  presentValue(factor, open, date).total;

describe('any prepayment', () => {
  test('payoff before, less the value, is the remaining balance, is the payoff after', () => {
    fc.assert(
      fc.property(anyPayment, ({ factor, open, date, value }) => {
        const allocation = allocatePrepayment(factor, open, { value, date });
        expect(allocation.payoffValue).toBe(payoffOf(factor, open, date));
        expect(subtractCents(allocation.remainingBalance, allocation.excessValue)).toBe(
          subtractCents(allocation.payoffValue, value),
        );
        expect(payoffOf(factor, after(open, allocation), date)).toBe(allocation.remainingBalance);
      }),
      { numRuns: 150 },
    );
  });

  test('two on one day leave the balance that one of their sum leaves', () => {
    fc.assert(
      fc.property(anyPayment, fc.double({ min: 0, max: 1, noNaN: true }), (payment, part) => {
        const { factor, open, date, value } = payment;
        const first = cents(Math.max(1, Math.floor(value * part)));
        fc.pre(first < value);
        const rest = subtractCents(value, first);
        const afterFirst = after(open, allocatePrepayment(factor, open, { value: first, date }));
        const second = allocatePrepayment(factor, afterFirst, { value: rest, date });
        const once = allocatePrepayment(factor, open, { value, date });
        expect(second.remainingBalance).toBe(once.remainingBalance);
        expect(second.partial?.installmentCode).toBe(once.partial?.installmentCode);
        expect(second.partial?.outstandingAtDue).toBe(once.partial?.outstandingAtDue);
        expect(payoffOf(factor, after(afterFirst, second), date)).toBe(
          payoffOf(factor, after(open, once), date),
        );
      }),
      { numRuns: 80 },
    );
  });

  test('the order in which installments are paid off does not move the balance, on that day or later', () => {
    fc.assert(
      fc.property(anyPayment, anyDate, ({ factor, open, date, value }, later) => {
        const byRule = allocatePrepayment(factor, open, { value, date });
        fc.pre(byRule.remainingBalance > 0);
        const [first, ...others] = open;
        if (!first) return;
        const credit = { value: new Decimal(value).div(100).toFixed(), date };
        const allOnOne = [{ ...first, credits: [credit] }, ...others];
        for (const day of [date, later]) {
          expect(payoffOf(factor, allOnOne, day)).toBe(payoffOf(factor, after(open, byRule), day));
        }
      }),
      { numRuns: 80 },
    );
  });

  test('does not depend on the order in which the installments are listed', () => {
    fc.assert(
      fc.property(anyPayment, ({ factor, open, date, value }) => {
        const listed = allocatePrepayment(factor, open, { value, date });
        const reversed = allocatePrepayment(factor, open.toReversed(), { value, date });
        expect(new Set(reversed.settledInstallments)).toEqual(new Set(listed.settledInstallments));
        expect(reversed.partial).toEqual(listed.partial);
      }),
      { numRuns: 40 },
    );
  });

  test('money is conserved: what was paid off, the credit and the excess are the value', () => {
    fc.assert(
      fc.property(anyPayment, ({ factor, open, date, value }) => {
        const { lines, partial, excessValue } = allocatePrepayment(factor, open, { value, date });
        const paidOff = addCents(...lines.filter((line) => line.paidOff).map((line) => line.presentValue));
        const credit = new Decimal(partial?.credit.value ?? 0).times(100);
        const missed = new Decimal(value).minus(paidOff).minus(credit).minus(excessValue);
        // The lines are rounded and the credit is exact, so half a cent may separate them.
        expect(missed.abs().lte(0.5)).toBe(true);
      }),
      { numRuns: 80 },
    );
  });
});
