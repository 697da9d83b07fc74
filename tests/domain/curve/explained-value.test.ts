import { expect, test } from '@jest/globals';
import { explainPresentValue } from '../../../domain/curve/explained-value.ts';
import { presentValue } from '../../../domain/curve/present-value.ts';
import type { CalendarDate } from '../../../domain/shared/calendar-date.ts';
import type { Cents } from '../../../domain/shared/money.ts';

/** v = 1/2: every power can be seen. */
const HALF = `0.5${'0'.repeat(29)}`;
const DAY = '2026-01-10' as CalendarDate;
const open = [
  { code: '001' as never, dueDate: '2026-01-12' as CalendarDate, faceValue: 1_001 as Cents, credits: [] },
  {
    code: '002' as never,
    dueDate: '2026-01-11' as CalendarDate,
    faceValue: 1_000 as Cents,
    credits: [{ value: '1.25', date: '2026-01-09' as CalendarDate }],
  },
];

test('each line shows its days, its power, what it adds and what is rounded', () => {
  const [first, second] = explainPresentValue(HALF, open, DAY);
  expect(first).toMatchObject({
    face: { amount: '10.01', days: 2, factor: '0.25', carried: '2.5025' },
    credits: [],
    runningTotal: '2.5025',
    roundedTotal: 250,
    presentValue: 250,
  });
  expect(second).toMatchObject({
    face: { amount: '10.00', days: 1, factor: '0.5', carried: '5.00' },
    credits: [{ amount: '1.25', days: -1, factor: '2', carried: '2.50' }],
    exact: '2.50',
    runningTotal: '5.0025',
    roundedTotal: 500,
    presentValue: 250,
  });
});

test('the lines are those of the present value', () => {
  const { total, lines } = presentValue(HALF, open, DAY);
  const explained = explainPresentValue(HALF, open, DAY);
  expect(
    explained.map(({ installmentCode, presentValue: value }) => ({ installmentCode, presentValue: value })),
  ).toEqual(lines);
  expect(explained.at(-1)?.roundedTotal).toBe(total);
});
