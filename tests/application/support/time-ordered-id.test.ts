import { expect, test } from '@jest/globals';
import { TimeOrderedIds, firstIdAt } from '../../../application/support/time-ordered-id.ts';

const NOW = Date.parse('2026-01-15T12:00:00.000Z');

test('ids are UUIDs of version 7 with the time in front', () => {
  const id = new TimeOrderedIds().next(NOW);
  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(parseInt(id.replaceAll('-', '').slice(0, 12), 16)).toBe(NOW);
});

test('their order as text is the order in which they were made, also within a millisecond and when the clock steps back', () => {
  const ids = new TimeOrderedIds();
  const made = Array.from({ length: 20_000 }, (_, i) =>
    ids.next(NOW + (i % 7 === 0 ? -50 : Math.floor(i / 9_000))),
  );
  expect(made.toSorted()).toEqual(made);
  expect(new Set(made).size).toBe(made.length);
});

test('a bound by time sorts before every id from then on and after every earlier one', () => {
  const ids = new TimeOrderedIds();
  const [earlier, at] = [ids.next(NOW - 1), ids.next(NOW)];
  expect(earlier < firstIdAt(NOW)).toBe(true);
  expect(firstIdAt(NOW) < at).toBe(true);
});
