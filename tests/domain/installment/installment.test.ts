import { describe, expect, test } from '@jest/globals';
import {
  carryCredit,
  evolveInstallment,
  isOpen,
  payOff,
  pendingInstallment,
  scheduledAt,
  scheduleOf,
} from '../../../domain/installment/installment.ts';
import type { Installment } from '../../../domain/installment/installment.ts';
import { becomeOverdue, outstandingAtDue, settle } from '../../../domain/loan/payments.ts';
import { calendarDate } from '../../../domain/shared/calendar-date.ts';
import { cents } from '../../../domain/shared/money.ts';
import { refusalOf } from '../../support/decider-spec.ts';
import { L1, centsOf } from '../support/finance-vectors.ts';
import { NOW, becameOverdue, installmentCode, paid, underpaid } from '../support/loan-story.ts';

const factor = L1.daily_factor;
const pending: Installment = pendingInstallment({
  code: installmentCode('009'),
  dueDate: calendarDate('2026-10-15'),
  faceValue: centsOf('950.00'),
});
const overdue = evolveInstallment(pending, becameOverdue('009'));
const settled = evolveInstallment(pending, paid('009'));
const prepaid = payOff(pending, { date: calendarDate('2026-06-20'), paymentMethod: 'pix' });
const credited = carryCredit(pending, { value: '474.3643875750', date: calendarDate('2026-06-20') });

const payment = (settledValue: string, settledAt = '2026-10-15') => ({
  settledAt: calendarDate(settledAt),
  settledValue: centsOf(settledValue),
  paymentMethod: 'pix' as const,
  now: NOW,
});

test('a schedule gives back what it was made of, and nothing beyond', () => {
  const installments = L1.installments.map(({ code, due_date }, index) => ({
    code: installmentCode(code),
    dueDate: calendarDate(due_date),
    faceValue: cents(index + 1),
  }));
  const schedule = scheduleOf(installments);
  expect(installments.map((_, index) => scheduledAt(schedule, index))).toEqual(installments);
  for (const index of [-1, installments.length])
    expect(() => scheduledAt(schedule, index)).toThrow(RangeError);
});

describe('settling an installment', () => {
  test.each([
    ['before its due date', '2026-09-01', 0],
    ['on its due date', '2026-10-15', 0],
    ['the day after', '2026-10-16', 1],
    ['in the next year', '2027-01-01', 78],
  ])('%s counts the days that it is late', (_label, settledAt, lateDays) => {
    expect(settle(overdue, payment('950.00', settledAt), factor)).toEqual([
      { ...paid('009', '950.00', settledAt), lateDays },
    ]);
  });

  test('with less than it owes also records the difference', () => {
    expect(settle(pending, payment('900.00'), factor)).toEqual([
      paid('009', '900.00'),
      underpaid('009', '900.00', '50.00'),
    ]);
  });

  test('with more than it owes keeps the surplus as charges', () => {
    expect(settle(pending, payment('1000.00'), factor)).toEqual([paid('009', '1000.00')]);
  });

  test('that carries a credit compares with what is left of it', () => {
    const scheduledValue = centsOf('436.45');
    expect(settle(credited, payment('436.45'), factor)).toEqual([
      { ...paid('009', '436.45'), scheduledValue },
    ]);
    expect(settle(credited, payment('436.44'), factor)[1]).toEqual({
      ...underpaid('009', '436.44', '0.01'),
      scheduledValue,
    });
  });

  test.each([
    ['settled', settled],
    ['prepaid', prepaid],
  ])('that is %s already is refused', (status, closed) => {
    const refusal = refusalOf(() => settle(closed, payment('950.00'), factor));
    expect(refusal.code).toBe('installment_already_closed');
    expect(refusal.message).toContain(status);
  });
});

describe('an installment and its due date', () => {
  test('becomes overdue the day after, not on the day', () => {
    expect(becomeOverdue(pending, calendarDate('2026-10-15'), NOW)).toEqual([]);
    expect(becomeOverdue(pending, calendarDate('2026-10-16'), NOW)).toEqual([becameOverdue('009')]);
  });

  test('never becomes overdue twice, nor once it is closed', () => {
    for (const installment of [overdue, settled, prepaid]) {
      expect(becomeOverdue(installment, calendarDate('2030-01-01'), NOW)).toEqual([]);
    }
  });

  test('owes its face value, what a credit leaves, or nothing once closed', () => {
    expect(outstandingAtDue(pending, factor)).toBe(centsOf('950.00'));
    expect(outstandingAtDue(overdue, factor)).toBe(centsOf('950.00'));
    expect(outstandingAtDue(credited, factor)).toBe(centsOf('436.45'));
    expect(outstandingAtDue(settled, factor)).toBe(0);
    expect(outstandingAtDue(prepaid, factor)).toBe(0);
  });
});

describe('the life of an installment', () => {
  test('goes from pending to overdue to settled', () => {
    expect([pending, overdue, evolveInstallment(overdue, paid('009'))].map(({ status }) => status)).toEqual([
      'pending',
      'overdue',
      'settled',
    ]);
  });

  test('keeps its credits while it becomes overdue', () => {
    expect(evolveInstallment(credited, becameOverdue('009'))).toMatchObject({
      status: 'overdue',
      credits: [{ value: '474.3643875750' }],
    });
  });

  test('ends when it is closed: later events, credits and prepayments leave it as it is', () => {
    const credit = { value: '1', date: calendarDate('2026-06-20') };
    for (const closed of [settled, prepaid]) {
      expect(isOpen(closed)).toBe(false);
      expect(evolveInstallment(closed, paid('009', '1.00'))).toBe(closed);
      expect(evolveInstallment(closed, becameOverdue('009'))).toBe(closed);
      expect(carryCredit(closed, credit)).toBe(closed);
      expect(payOff(closed, { date: credit.date, paymentMethod: 'other' })).toBe(closed);
    }
  });

  test('does not change by the record of an underpayment', () => {
    expect(evolveInstallment(settled, underpaid('009', '900.00', '50.00'))).toBe(settled);
  });
});
