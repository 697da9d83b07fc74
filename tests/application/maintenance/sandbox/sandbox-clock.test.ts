import { describe, expect, test } from '@jest/globals';
import type { SqlClockOffset } from '../../../../application/maintenance/sandbox/sandbox-clock.ts';
import { MovableClock, SandboxClock } from '../../../../application/maintenance/sandbox/sandbox-clock.ts';
import { durationOf } from '../../../../application/schemas/values.ts';
import type { ClockMove } from '../../../../application/maintenance/sandbox/sandbox-clock.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { RecordingLogger } from '../../../support/recording-logger.ts';

const DAY_MS = 86_400_000;
const START = '2026-01-15T12:00:00.000Z';

class MemoryOffset implements Pick<SqlClockOffset, 'read' | 'replace'> {
  ms = 0;
  read = () => Promise.resolve(this.ms);
  replace = (from: number, to: number) => {
    if (this.ms !== from) return Promise.resolve(false);
    this.ms = to;
    return Promise.resolve(true);
  };
}

/** One process; several may share an offset. Real time stands still. */
const processOf = (offset = new MemoryOffset()) => {
  const realClock = new ManualClock(START);
  const clock = new MovableClock(() => Date.parse(realClock.realNow()));
  const sleeps: number[] = [];
  const sleep = (ms: number): Promise<void> => Promise.resolve(void sleeps.push(ms));
  const sandbox = new SandboxClock({ offset, clock, realClock, logger: new RecordingLogger(), sleep });
  return { offset, clock, realClock, sandbox, sleeps };
};
const refusalOf = (move: ClockMove, sandbox = processOf().sandbox): Promise<unknown> =>
  sandbox.move(move).then(
    () => 'moved',
    (error: { code: string; details: { field: string; code: string; message: string }[] }) => [
      error.code,
      error.details[0]!.field,
      error.details[0]!.code,
    ],
  );

describe('durations', () => {
  test.each([
    ['300ms', 300],
    ['30s', 30_000],
    ['2m', 120_000],
    ['1h', 3_600_000],
    ['30d', 30 * DAY_MS],
    ['0d', 0],
  ])('%s', (text, ms) => expect(durationOf(text)).toBe(ms));

  test.each(['', '30', '1.5h', '-1d', '1w', ' 1d', '1d ', '1D', '1e3d', '٣d', '1d2h', '9'.repeat(13) + 'd'])(
    'not %j',
    (text) => expect(durationOf(text)).toBeUndefined(),
  );
});

describe('a clock that can be moved', () => {
  test('shows real time until it is moved, the calendar of Sao Paulo included', () => {
    const { clock, realClock } = processOf();
    expect([clock.now(), clock.today()]).toEqual([START, '2026-01-15']);
    clock.moveTo(DAY_MS);
    expect([clock.now(), clock.today()]).toEqual(['2026-01-16T12:00:00.000Z', '2026-01-16']);
    realClock.advance(15 * 3_600_000 - 1);
    expect(clock.today()).toBe('2026-01-16');
    realClock.advance(1);
    expect([clock.now(), clock.today()]).toEqual(['2026-01-17T03:00:00.000Z', '2026-01-17']);
  });

  test('never goes back, and tells of moves only', () => {
    const { clock } = processOf();
    let told = 0;
    const forget = clock.onMoved(() => (told += 1));
    clock.moveTo(DAY_MS);
    clock.moveTo(1);
    clock.moveTo(DAY_MS);
    expect([clock.offsetMs, told]).toEqual([DAY_MS, 1]);
    forget();
    clock.moveTo(2 * DAY_MS);
    expect(told).toBe(1);
  });
});

describe('moving the clock of a sandbox', () => {
  test('by a stretch, and again: moves add up', async () => {
    const { sandbox, offset } = processOf();
    expect(await sandbox.move({ advanceMs: 30 * DAY_MS })).toEqual({
      now: '2026-02-14T12:00:00.000Z',
      offsetMs: 30 * DAY_MS,
    });
    await sandbox.move({ advanceMs: 1 });
    expect(offset.ms).toBe(30 * DAY_MS + 1);
  });

  test('to an instant, whatever its zone', async () => {
    const { sandbox } = processOf();
    expect((await sandbox.move({ to: '2026-03-01T09:00:00-03:00' })).now).toBe('2026-03-01T12:00:00.000Z');
  });

  test('loses none of many at once, from two processes', async () => {
    const one = processOf();
    const other = processOf(one.offset);
    const moves = Array.from({ length: 40 }, (_, i) =>
      (i % 2 ? one : other).sandbox.move({ advanceMs: DAY_MS }),
    );
    await Promise.all(moves);
    expect(one.offset.ms).toBe(40 * DAY_MS);
  });

  test('is known to another process as soon as it looks', async () => {
    const one = processOf();
    const other = processOf(one.offset);
    await one.sandbox.move({ advanceMs: DAY_MS });
    expect(other.clock.offsetMs).toBe(0);
    expect((await other.sandbox.show()).offsetMs).toBe(DAY_MS);
  });

  test('answers after everybody has had the time to look', async () => {
    const { sandbox, sleeps } = processOf();
    await sandbox.move({ advanceMs: DAY_MS });
    expect(sleeps).toEqual([300]);
  });

  test('refuses to go back, also behind an earlier move', async () => {
    expect(await refusalOf({ to: '2026-01-15T11:59:59.999Z' })).toEqual([
      'validation_error',
      'to',
      'backward',
    ]);
    const { sandbox } = processOf();
    await sandbox.move({ advanceMs: 30 * DAY_MS });
    expect(await refusalOf({ to: '2026-02-01T00:00:00Z' }, sandbox)).toEqual([
      'validation_error',
      'to',
      'backward',
    ]);
  });

  test('refuses more than ten years ahead of the real time', async () => {
    expect(await refusalOf({ to: '2036-01-15T12:00:00.000Z' })).toBe('moved');
    const tooFar = ['validation_error', 'to', 'too_far_ahead'];
    expect(await refusalOf({ to: '2036-01-15T12:00:00.001Z' })).toEqual(tooFar);
    expect(await refusalOf({ to: '9999-12-31T23:59:59Z' })).toEqual(tooFar);
    expect(await refusalOf({ advanceMs: durationOf('999999999999d')! })).toEqual([
      'validation_error',
      'advance',
      'too_far_ahead',
    ]);
    const { sandbox } = processOf();
    await sandbox.move({ advanceMs: 3_000 * DAY_MS });
    expect(await refusalOf({ advanceMs: 3_000 * DAY_MS }, sandbox)).toEqual([
      'validation_error',
      'advance',
      'too_far_ahead',
    ]);
  });

  test('goes on looking when the store is away for a while', async () => {
    const { offset, clock, realClock } = processOf();
    const signal = new AbortController();
    let looks = 0;
    const shaky: MemoryOffset = {
      ...offset,
      read: () => {
        looks += 1;
        if (looks === 1) return Promise.reject(new Error('away'));
        if (looks === 3) signal.abort();
        return Promise.resolve(DAY_MS);
      },
    };
    const logger = new RecordingLogger();
    const deps = { offset: shaky, clock, realClock, logger, sleep: () => Promise.resolve() };
    await new SandboxClock(deps).follow(signal.signal);
    expect(clock.offsetMs).toBe(DAY_MS);
    expect(logger.lines.map(({ level }) => level)).toEqual(['error', 'info']);
  });
});
