import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  addDays,
  calendarDate,
  daysBetween,
  isCalendarDate,
  sharedDate,
} from '../../../domain/shared/calendar-date.ts';

const start = calendarDate('2000-01-01');
const anyDay = fc.integer({ min: -200_000, max: 200_000 });

describe('a calendar date', () => {
  test.each(['2026-01-15', '2024-02-29', '2000-02-29', '1000-01-01', '9999-12-31'])('%s exists', (text) => {
    expect(isCalendarDate(text)).toBe(true);
    expect(calendarDate(text)).toBe(text);
  });

  test.each([
    '2026-02-29',
    '1900-02-29',
    '2026-04-31',
    '2026-13-01',
    '2026-00-10',
    '2026-1-5',
    '0999-12-31',
    '',
    '2026-01-15T00:00:00Z',
  ])('"%s" does not', (text) => {
    expect(isCalendarDate(text)).toBe(false);
    expect(() => calendarDate(text)).toThrow(RangeError);
  });

  test.each([
    ['2026-01-15', '2026-02-15', 31],
    ['2026-02-15', '2026-03-15', 28],
    ['2024-02-15', '2024-03-15', 29],
    ['2026-01-15', '2027-01-15', 365],
    ['2026-06-20', '2026-06-15', -5],
  ])('from %s to %s counts %d days', (from, to, days) => {
    expect(daysBetween(calendarDate(from), calendarDate(to))).toBe(days);
  });

  test('is the same date when it is shared', () => {
    fc.assert(
      fc.property(anyDay, (days) => {
        const date = addDays(start, days);
        expect(sharedDate(date)).toBe(date);
      }),
    );
  });

  test('does not skip a day where clocks change', () => {
    // Sao Paulo began summer time at midnight of 2018-11-04, so that day had no 00:00 there.
    expect(daysBetween(calendarDate('2018-11-03'), calendarDate('2018-11-05'))).toBe(2);
    expect(addDays(calendarDate('2018-11-03'), 1)).toBe('2018-11-04');
  });

  test('stays at the last one that can be written, whatever is added', () => {
    const last = calendarDate('9999-12-31');
    expect([addDays(last, 1), addDays(calendarDate('9999-12-30'), 60), addDays(last, -1)]).toEqual([
      last,
      last,
      '9999-12-30',
    ]);
  });

  test('days added are days counted, and dates compare as text', () => {
    fc.assert(
      fc.property(anyDay, anyDay, (a, b) => {
        const [from, to] = [addDays(start, a), addDays(start, b)];
        expect(daysBetween(from, to)).toBe(b - a);
        expect(from < to).toBe(a < b);
      }),
    );
  });
});
