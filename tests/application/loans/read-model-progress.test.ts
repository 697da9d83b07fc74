import { describe, expect, test } from '@jest/globals';
import { PolledProgress, nearestProgress } from '../../../application/loans/read-model-progress.ts';
import type { SqlLoanReader } from '../../../application/loans/loan-reader.ts';

/** A read model in a map; time passes only while the reader sleeps. */
class World implements Pick<SqlLoanReader, 'versions'> {
  readonly rows = new Map<string, bigint>();
  readonly asked: (readonly string[])[] = [];
  readonly pauses: number[] = [];
  away = false;
  ms = 0;
  onSleep: () => void = () => undefined;

  versions(streams: readonly string[]): Promise<ReadonlyMap<string, bigint>> {
    this.asked.push(streams);
    if (this.away) return Promise.reject(new Error('away'));
    return Promise.resolve(new Map([...this.rows].filter(([stream]) => streams.includes(stream))));
  }

  progress(): PolledProgress {
    return new PolledProgress({
      loans: this,
      now: () => this.ms,
      sleep: async (ms) => {
        this.pauses.push(ms);
        this.ms += ms;
        this.onSleep();
        await new Promise((resolve) => setImmediate(resolve));
      },
    });
  }
}

describe('waiting for a projector of another process', () => {
  test('ends when the row shows that revision, or a later one', async () => {
    const world = new World();
    world.onSleep = () => world.pauses.length === 4 && world.rows.set('a', 3n).set('b', 9n);
    const progress = world.progress();
    const both = [progress.waitForVersion('a', 3n, 3_000), progress.waitForVersion('b', 3n, 3_000)];
    expect(await Promise.all(both)).toEqual([true, true]);
    expect(world.asked).toHaveLength(4);
    expect(world.asked[0]).toEqual(['a', 'b']);
  });

  test('asks the more seldom the longer it lasts', async () => {
    const world = new World();
    world.onSleep = () => world.ms > 2_000 && world.rows.set('a', 1n);
    expect(await world.progress().waitForVersion('a', 1n, 3_000)).toBe(true);
    expect([world.pauses[0], world.pauses.at(-1)]).toEqual([5, 100]);
    expect(world.pauses).toEqual([...world.pauses].sort((a, b) => a - b));
    expect(world.asked.length).toBeLessThan(40);
  });

  test('ends in time when nothing comes, and when the read model is away', async () => {
    for (const away of [false, true]) {
      const world = Object.assign(new World(), { away });
      world.rows.set('a', 1n);
      expect(await world.progress().waitForVersion('a', 2n, 30)).toBe(false);
    }
  });

  test('stops asking when nobody waits, and begins again', async () => {
    const world = new World();
    world.rows.set('a', 1n);
    const progress = world.progress();
    expect(await progress.waitForVersion('a', 1n, 1_000)).toBe(true);
    const asked = world.asked.length;
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(world.asked).toHaveLength(asked);
    expect(await progress.waitForVersion('a', 1n, 1_000)).toBe(true);
  });

  test('takes turns when more wait than fit one query', async () => {
    const world = new World();
    const progress = world.progress();
    const waiting = Array.from({ length: 1_200 }, (_, i) => progress.waitForVersion(`s${i}`, 0n, 3_000));
    world.onSleep = () => world.pauses.length === 2 && world.rows.set('s1199', 0n).set('s0', 0n);
    expect(await Promise.all([waiting[0], waiting[1_199]])).toEqual([true, true]);
    expect(Math.max(...world.asked.map((streams) => streams.length))).toBe(500);
    for (let i = 0; i < 1_200; i++) world.rows.set(`s${i}`, 0n);
    expect(new Set(await Promise.all(waiting))).toEqual(new Set([true]));
  });
});

describe('the nearest way to learn of the read model', () => {
  const local = (state: 'running' | 'stopped', applied: boolean) => {
    const calls: number[] = [];
    return {
      calls,
      status: () => ({ state }),
      waitForVersion: (_stream: string, _revision: bigint, ms: number) => {
        calls.push(ms);
        return Promise.resolve(applied);
      },
    };
  };

  test.each([
    ['a projector that works beside it', 'running', true, [1, 0]],
    ['the read model when the role is elsewhere', 'stopped', true, [0, 1]],
    ['both when the role passes on meanwhile', 'running', false, [1, 1]],
  ] as const)('%s', async (_, state, applied, asked) => {
    const [here, there] = [local(state, applied), local('stopped', true)];
    const progress = nearestProgress(here, there, () => 0);
    expect(await progress.waitForVersion('a', 1n, 3_000)).toBe(true);
    expect([here.calls.length, there.calls.length]).toEqual(asked);
  });
});
