import { expect, test } from '@jest/globals';
import { scheduleOf, scheduledAt } from '../../../domain/installment/installment.ts';
import { calendarDate } from '../../../domain/shared/calendar-date.ts';
import { cents } from '../../../domain/shared/money.ts';
import { L1 } from '../support/finance-vectors.ts';
import { installmentCode } from '../support/loan-story.ts';

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
