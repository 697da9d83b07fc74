import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { LineAMinute } from '../../../infrastructure/support/line-a-minute.ts';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

test('the first of a kind is told at once, the others once a minute with their number, and quiet ends it', () => {
  const lines: object[] = [];
  const line = new LineAMinute((fields) => lines.push(fields));
  line.note('ENOSPC', { n: 1 });
  line.note('ENOSPC', { n: 2 });
  line.note('EMFILE', { n: 3 });
  line.note('ENOSPC', { n: 4 });
  expect(lines).toEqual([
    { n: 1, count: 1 },
    { n: 3, count: 1 },
  ]);
  jest.advanceTimersByTime(60_000);
  expect(lines.slice(2)).toEqual([{ n: 4, count: 2 }]);
  line.note('ENOSPC', { n: 5 });
  line.note('EMFILE', { n: 6 });
  expect(lines.slice(3)).toEqual([{ n: 6, count: 1 }]);
  jest.advanceTimersByTime(60_000);
  jest.advanceTimersByTime(60_000);
  expect(lines.slice(4)).toEqual([{ n: 5, count: 1 }]);
  line.note('ENOSPC', { n: 7 });
  expect(lines.slice(5)).toEqual([{ n: 7, count: 1 }]);
});
