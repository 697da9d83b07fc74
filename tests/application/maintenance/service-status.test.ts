import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type {
  LogPosition,
  RecordedEvent,
  SubscribeOptions,
  SubscriptionMessage,
} from '../../../application/ports/event-store.ts';
import { behindOf as behindAmong } from '../../../application/maintenance/service-status.ts';
import { logOrder } from '../../../infrastructure/composition/read-models.ts';
import { within } from '../../../infrastructure/support/time.ts';

const behindOf = (log: CountingLog, places: Parameters<typeof behindAmong>[1]) =>
  behindAmong({ log, order: logOrder, within }, places);

const BATCH = 500;
const at = (position: number): LogPosition => String(position) as LogPosition;
const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));

/** A log of so many events; `read` are those that were handed out, `open` the subscriptions that have not ended. */
class CountingLog {
  readonly read: number[] = [];
  readonly from: (LogPosition | 'start')[] = [];
  open = 0;
  /** Streams other than that of an operation, by position. */
  beside: ReadonlyMap<number, string> = new Map();
  damaged = Infinity;
  silent = false;
  readonly #end: number;

  constructor(end: number) {
    this.#end = end;
  }

  async end(): Promise<LogPosition> {
    return at(this.#end);
  }

  async ensureHas(position: LogPosition): Promise<void> {
    if (Number(position) > this.#end) throw new RangeError(`position ${position} lies beyond the end`);
  }

  async *subscribe({ from, signal }: SubscribeOptions): AsyncGenerator<SubscriptionMessage> {
    this.from.push(from);
    this.open += 1;
    try {
      if (this.silent) await untilAborted(signal);
      for (let next = from === 'start' ? 1 : Number(from) + 1; !signal.aborted && next <= this.#end;) {
        const readable = next > this.damaged ? Infinity : this.damaged - 1;
        const last = Math.min(next + BATCH - 1, this.#end, readable);
        if (last < next) throw new Error(`event ${next} is damaged`);
        const events = Array.from({ length: last - next + 1 }, (_, i) => {
          const position = next + i;
          return { position: at(position), stream: this.beside.get(position) ?? 'loan-app.A' };
        });
        this.read.push(...events.map(({ position }) => Number(position)));
        yield { kind: 'events', events: events as RecordedEvent[], checkpoint: at(last) };
        next = last + 1;
      }
      if (!signal.aborted) yield { kind: 'caught_up' };
      if (!signal.aborted) await untilAborted(signal);
    } finally {
      this.open -= 1;
    }
  }
}

const counted = async (log: CountingLog, ...positions: (number | 'start')[]) => {
  const places = positions.map((position, i) => ({
    name: `follower ${i}`,
    position: position === 'start' ? position : at(position),
  }));
  const followers = await behindOf(log, places);
  expect(followers.map(({ name, position }) => ({ name, position }))).toEqual(places);
  return followers.map(({ behind, atLeast, problem }) => [
    behind,
    ...(atLeast ? ['at least'] : []),
    ...(problem === undefined ? [] : [problem]),
  ]);
};

describe('how far followers are behind', () => {
  test('is counted in one reading, from the place of the one that is furthest behind', async () => {
    const log = new CountingLog(1_300);
    expect(await counted(log, 700, 'start', 1_300, 700)).toEqual([[600], [1_300], [0], [600]]);
    expect([log.from, log.read.length, log.open]).toEqual([['start'], 1_300, 0]);
  });

  test('is nothing in an empty log', async () => {
    expect(await counted(new CountingLog(0), 'start', 'start')).toEqual([[0], [0]]);
  });

  test('is counted up to ten thousand, and what lies between the far and the near is not read', async () => {
    const log = new CountingLog(1_000_000);
    expect(await counted(log, 999_993, 'start', 250, 999_000)).toEqual([
      [7],
      [10_000, 'at least'],
      [10_000, 'at least'],
      [1_000],
    ]);
    expect(log.from).toEqual(['start', '999000']);
    expect(log.read.length).toBeLessThanOrEqual(10_500 + 1_000);
    expect(new Set(log.read).size).toBe(log.read.length);
  });

  test('lines of the desk, funds and first decisions do not count; renegotiations do', async () => {
    const log = new CountingLog(32);
    log.beside = new Map([
      ...([12, 13, 29, 30] as const).map((position) => [position, 'desk-1'] as const),
      ...([14, 31] as const).map((position) => [position, 'fund-names'] as const),
      ...([15, 32] as const).map((position) => [position, 'decision-app.A'] as const),
      [16, 'renegotiation-1'],
    ]);
    expect(await counted(log, 10, 28)).toEqual([[14], [0]]);
  });

  test('is unknown for a place that is not of this log, and known for the others', async () => {
    const problem = 'position 31 lies beyond the end';
    expect(await counted(new CountingLog(30), 31, 10)).toEqual([[0, 'at least', problem], [20]]);
  });

  test('is unknown before an event that cannot be read, and known behind it', async () => {
    const log = new CountingLog(30);
    log.damaged = 20;
    const damaged = [0, 'at least', 'event 20 is damaged'];
    expect(await counted(log, 'start', 25, 19)).toEqual([damaged, [5], damaged]);
    expect(log.open).toBe(0);
  });

  describe('where the log says nothing', () => {
    beforeEach(() => void jest.useFakeTimers());
    afterEach(() => void jest.useRealTimers());

    test('is unknown after ten seconds', async () => {
      const log = new CountingLog(30);
      log.silent = true;
      const answer = counted(log, 31, 10, 20);
      await jest.advanceTimersByTimeAsync(10_000);
      const problem = 'following the log took longer than 10000 ms';
      expect(await answer).toEqual([
        [0, 'at least', 'position 31 lies beyond the end'],
        [0, 'at least', problem],
        [0, 'at least', problem],
      ]);
      await jest.advanceTimersByTimeAsync(1);
      expect(log.open).toBe(0);
    });
  });
});
