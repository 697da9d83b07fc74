import { describe, expect, test } from '@jest/globals';
import { nextDayStart } from '../../../../application/loans/overdue/overdue-scheduler.ts';

describe('the next day in Sao Paulo begins', () => {
  test.each([
    ['at 03:00 UTC', '2026-06-20T12:00:00.000Z', '2026-06-21T03:00:00.000Z'],
    ['the same UTC day, late in the evening', '2026-06-21T02:59:59.999Z', '2026-06-21T03:00:00.000Z'],
    ['a whole day later for its first instant', '2026-06-21T03:00:00.000Z', '2026-06-22T03:00:00.000Z'],
    ['in a leap year', '2028-02-29T12:00:00.000Z', '2028-03-01T03:00:00.000Z'],
    ['at the turn of the year', '2026-12-31T23:00:00.000Z', '2027-01-01T03:00:00.000Z'],
    ['an hour late when midnight did not exist', '2018-11-03T15:00:00.000Z', '2018-11-04T03:00:00.000Z'],
    ['in summer time', '2018-11-04T15:00:00.000Z', '2018-11-05T02:00:00.000Z'],
    ['after a day of 25 hours', '2019-02-16T12:00:00.000Z', '2019-02-17T03:00:00.000Z'],
  ])('%s', (_, instant, expected) => {
    expect(new Date(nextDayStart(Date.parse(instant))).toISOString()).toBe(expected);
  });
});
