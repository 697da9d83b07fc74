import { expect, test } from '@jest/globals';
import { afterFailure } from '../../../../infrastructure/webhooks/dispatch/dispatch-settings.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** Delivery rule 1 of the interface specification. */
const schedule = [30_000, 2 * MINUTE, 10 * MINUTE, HOUR, 4 * HOUR, 12 * HOUR, 24 * HOUR];
const start = Date.parse('2026-01-15T12:00:00.000Z');

test('eight attempts fill about 42 hours, each gap counted from the attempt before', () => {
  let now = start;
  const instants: string[] = [];
  for (let used = 0; ; used++) {
    const verdict = afterFailure(schedule, used, now);
    if (verdict.kind !== 'retry') break;
    instants.push(verdict.at);
    now = Date.parse(verdict.at);
  }
  expect(instants).toEqual([
    '2026-01-15T12:00:30.000Z',
    '2026-01-15T12:02:30.000Z',
    '2026-01-15T12:12:30.000Z',
    '2026-01-15T13:12:30.000Z',
    '2026-01-15T17:12:30.000Z',
    '2026-01-16T05:12:30.000Z',
    '2026-01-17T05:12:30.000Z',
  ]);
});

test('without gaps the first attempt is the last', () => {
  expect(afterFailure([], 0, start)).toEqual({ kind: 'failed' });
});
