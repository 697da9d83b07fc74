import { describe, expect, test } from '@jest/globals';
import { nextDayStart, sweepOverdue } from '../../../application/loans/overdue.ts';
import type { CalendarDate } from '../../../domain/shared/calendar-date.ts';
import type { Timestamp } from '../../../domain/shared/identifiers.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';

/** Runs the scheduler on a clock that moves only in its sleep; answers when it swept. */
const sweeps = async (
  start: string,
  { count = 4, interval = 30_000, sweep = () => Promise.resolve(0) } = {},
): Promise<readonly string[]> => {
  let now = Date.parse(start);
  const stop = new AbortController();
  const times: string[] = [];
  const parts: Parameters<typeof sweepOverdue>[0] = {
    markOverdue: () => {
      times.push(new Date(now).toISOString());
      if (times.length === count) stop.abort();
      return sweep();
    },
    clock: {
      now: () => new Date(now).toISOString() as Timestamp,
      today: () => '2026-01-01' as CalendarDate,
    },
    logger: new RecordingLogger(),
    sleep: async (ms) => void (now += ms),
    interval,
  };
  await sweepOverdue(parts, stop.signal);
  return times;
};

describe('overdue scheduler', () => {
  test('sweeps at once, then every interval', async () => {
    expect(await sweeps('2026-06-20T12:00:00.000Z')).toEqual([
      '2026-06-20T12:00:00.000Z',
      '2026-06-20T12:00:30.000Z',
      '2026-06-20T12:01:00.000Z',
      '2026-06-20T12:01:30.000Z',
    ]);
  });

  test('and exactly when a day begins in Sao Paulo', async () => {
    expect(await sweeps('2026-06-21T02:59:40.250Z', { count: 3 })).toEqual([
      '2026-06-21T02:59:40.250Z',
      '2026-06-21T03:00:00.000Z',
      '2026-06-21T03:00:30.000Z',
    ]);
  });

  test('a failure is tried again soon', async () => {
    const failing = () => Promise.reject(new Error('store away'));
    expect(await sweeps('2026-06-20T12:00:00.000Z', { count: 3, sweep: failing })).toEqual([
      '2026-06-20T12:00:00.000Z',
      '2026-06-20T12:00:01.000Z',
      '2026-06-20T12:00:02.000Z',
    ]);
  });
});

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
