import { describe, expect, test } from '@jest/globals';
import type { LogPosition, RecordedEvent } from '../../../../application/ports/event-store.ts';
import { RecentEvents } from '../../../../infrastructure/sqlite/event-log/event-log-reader.ts';
import { sampleEvent } from '../../../contracts/event-store-samples.ts';

const events = (first: number, count: number): readonly RecordedEvent[] =>
  Array.from({ length: count }, (_, n) => ({
    ...sampleEvent(),
    stream: 'loan-a.1',
    revision: BigInt(n),
    position: String(first + n) as LogPosition,
  }));

const positions = (found: readonly RecordedEvent[] | undefined): readonly number[] | undefined =>
  found?.map(({ position }) => Number(position));

describe('the recent events', () => {
  test('are given from any position that they cover, up to a limit', () => {
    const recent = new RecentEvents(10);
    recent.push(11, events(11, 2));
    recent.push(13, events(13, 1));
    expect(positions(recent.after(10, 100))).toEqual([11, 12, 13]);
    expect(positions(recent.after(11, 1))).toEqual([12]);
    expect(positions(recent.after(13, 100))).toEqual([]);
    expect(recent.after(9, 100)).toBeUndefined();
  });

  test('start anew behind a gap, so that nobody misses what stands in it', () => {
    const recent = new RecentEvents(10);
    recent.push(11, events(11, 1));
    recent.push(14, events(14, 1));
    expect(recent.after(11, 100)).toBeUndefined();
    expect(positions(recent.after(13, 100))).toEqual([14]);
  });

  test('give way to a longer log, and ignore what it already holds', () => {
    const recent = new RecentEvents(10);
    recent.push(11, events(11, 1));
    recent.advanceTo(13);
    recent.push(12, events(12, 1));
    expect([recent.high, recent.after(11, 100), recent.after(13, 100)]).toEqual([13, undefined, []]);
    recent.advanceTo(12);
    expect(recent.high).toBe(13);
  });

  test('are bounded: the oldest leave first', () => {
    const recent = new RecentEvents(0);
    for (let n = 0; n < 20; n++) recent.push(n * 500 + 1, events(n * 500 + 1, 500));
    expect(recent.high).toBe(10_000);
    expect(recent.after(0, 1)).toBeUndefined();
    expect(positions(recent.after(9_998, 100))).toEqual([9_999, 10_000]);
  });

  test('wake those who wait, once, and not those who have left', () => {
    const recent = new RecentEvents(0);
    const calls: string[] = [];
    recent.onChange(() => calls.push('first'));
    const leave = recent.onChange(() => calls.push('second'));
    leave();
    recent.push(1, events(1, 1));
    recent.push(2, events(2, 1));
    expect(calls).toEqual(['first']);
  });
});
