import { expect, test } from '@jest/globals';
import { endOfBusinessDay } from '../../../application/support/business-day.ts';
import { calendarDate } from '../../../domain/shared/calendar-date.ts';

test.each([
  ['2026-06-30', '2026-07-01T03:00:00.000Z'],
  // Midnight did not exist on the day after, as summer time began.
  ['2018-11-03', '2018-11-04T03:00:00.000Z'],
  ['2018-12-31', '2019-01-01T02:00:00.000Z'],
])('%s ends with the first instant of the next day in Sao Paulo', (day, end) => {
  expect(endOfBusinessDay(calendarDate(day))).toBe(end);
});

test('the last day that can be written ends, as text, after all that happens', () => {
  expect(endOfBusinessDay(calendarDate('9999-12-31')) > '9999-12-30T23:59:59.999Z').toBe(true);
});
