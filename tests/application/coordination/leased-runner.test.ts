import { setImmediate as everythingElse } from 'node:timers/promises';
import type { Pause } from '../../../application/support/retry.ts';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { Background } from '../../../application/coordination/background.ts';
import { LeasedRunner } from '../../../application/coordination/leased-runner.ts';
import type { Lease } from '../../../application/coordination/leases.ts';
import { InMemoryLeases } from '../../support/in-memory-leases.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';

/** Time that passes only when a test lets it: from one moment that something waits for to the next. */
class PassingTime {
  #now = 0;
  readonly #waiting = new Set<{ readonly at: number; readonly wake: () => void }>();

  readonly now = (): number => this.#now;

  readonly pause: Pause = (ms, signal) =>
    new Promise((resolve) => {
      const wake = (): void => {
        this.#waiting.delete(one);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      const one = { at: this.#now + ms, wake };
      this.#waiting.add(one);
      if (signal.aborted) wake();
      else signal.addEventListener('abort', wake);
    });

  /** How many milliseconds passed until then. */
  async until(what: string, condition: () => boolean, withinMs = 5_000): Promise<number> {
    const begun = this.#now;
    for (;;) {
      await everythingElse();
      if (condition()) return this.#now - begun;
      const [first] = [...this.#waiting].sort((one, other) => one.at - other.at);
      if (first === undefined || first.at - begun > withinMs)
        throw new Error(`not within ${withinMs} ms: ${what}`);
      this.#now = Math.max(this.#now, first.at);
      first.wake();
    }
  }
}

const TTL_MS = 600;

/** Leases whose store can go away in several ways. */
class UnsteadyLeases extends InMemoryLeases {
  away: 'no' | 'refusing' | 'silent' = 'no';
  forget = false;
  renewals = 0;
  releases = 0;

  override acquire(name: string, holder: string, ttlMs: number): Promise<Lease | undefined> {
    return this.#or(() => super.acquire(name, holder, ttlMs));
  }
  override renew(lease: Lease, ttlMs: number): Promise<boolean> {
    if (this.forget) return Promise.resolve(false);
    this.renewals += 1;
    return this.#or(() => super.renew(lease, ttlMs));
  }
  override release(lease: Lease): Promise<void> {
    this.releases += 1;
    return this.#or(() => super.release(lease));
  }
  #or<T>(answer: () => Promise<T>): Promise<T> {
    if (this.away === 'refusing') return Promise.reject(new Error('the store is away'));
    return this.away === 'silent' ? new Promise(() => undefined) : answer();
  }
}

/** Notes when it runs, and that it never runs twice. */
class Work {
  running = 0;
  most = 0;
  starts = 0;
  stuck = false;
  background(): Background {
    return {
      name: 'work',
      isStuck: () => this.stuck,
      start: () => {
        this.starts += 1;
        this.running += 1;
        this.most = Math.max(this.most, this.running);
      },
      stop: () => {
        this.running -= 1;
        return Promise.resolve();
      },
    };
  }
}

describe('a role that only one process may play', () => {
  const started: LeasedRunner[] = [];
  const logger = new RecordingLogger();
  const time = new PassingTime();
  const until = time.until.bind(time);
  const runner = (leases: InMemoryLeases, work: Work, holder: string): LeasedRunner => {
    const inner = work.background();
    const timing = { ttlMs: TTL_MS, lookEveryMs: 20 };
    const { now, pause: sleep } = time;
    const one = new LeasedRunner({ lease: 'role', holder, leases, inner, logger, sleep, now, timing });
    started.push(one);
    one.start();
    return one;
  };
  const errors = (): readonly string[] =>
    logger.lines.filter(({ level }) => level === 'error').map(({ message }) => message);

  afterEach(async () => {
    await Promise.all(started.splice(0).map((one) => one.stop()));
    logger.lines.length = 0;
  });

  test('is played by one, for longer than a lease lasts', async () => {
    const [leases, work] = [new UnsteadyLeases(time.now), new Work()];
    const [a, b] = [runner(leases, work, 'a'), runner(leases, work, 'b')];
    await until('renewed beyond the first end', () => leases.renewals >= 4);
    expect([a.state, b.state].sort()).toEqual(['holding', 'standby']);
    expect([work.most, work.starts]).toEqual([1, 1]);
  });

  test('passes on at once when its holder stops in order', async () => {
    const [leases, work] = [new UnsteadyLeases(time.now), new Work()];
    const a = runner(leases, work, 'a');
    await until('a holds', () => a.state === 'holding');
    const b = runner(leases, work, 'b');
    await until('b stands by', () => b.state === 'standby');
    await a.stop();
    // Given back: it has not to be waited out.
    expect(leases.releases).toBe(1);
    await until('b holds', () => b.state === 'holding');
    expect([work.most, work.starts]).toEqual([1, 2]);
  });

  test('passes on when it is stuck at its holder, to a process that may get further', async () => {
    const [leases, old, young] = [new UnsteadyLeases(time.now), new Work(), new Work()];
    const a = runner(leases, old, 'old');
    await until('the old one holds', () => a.state === 'holding');
    const b = runner(leases, young, 'new');
    await until('the new one stands by', () => b.state === 'standby');
    old.stuck = true;
    await until('the new one holds', () => b.state === 'holding', 2 * TTL_MS);
    await until('the old one stands by', () => a.state === 'standby');
    expect([old.running, young.running]).toEqual([0, 1]);
    expect(errors()).toEqual([]);
  });

  test('stays where it is stuck when there is no other process, tried again less and less often', async () => {
    const [leases, work] = [new UnsteadyLeases(time.now), new Work()];
    work.stuck = true;
    const a = runner(leases, work, 'a');
    const gaps: number[] = [];
    for (let start = 2; start <= 4; start++)
      gaps.push(await until(`start ${start}`, () => work.starts === start, 10 * TTL_MS));
    expect(gaps[2]).toBeGreaterThan(gaps[0]! + TTL_MS / 2);
    expect(a.state).toBe('holding');
    expect(work.most).toBe(1);
  });

  test('passes on when its holder died, once the lease has ended', async () => {
    const [leases, work] = [new UnsteadyLeases(time.now), new Work()];
    const died = time.now();
    await leases.acquire('role', 'dead', TTL_MS);
    const b = runner(leases, work, 'b');
    await until('b holds', () => b.state === 'holding');
    expect(time.now() - died).toBeGreaterThanOrEqual(TTL_MS);
  });

  test.each(['refusing', 'silent'] as const)(
    'is given up before its lease ends when the store is %s, and taken up when it is back',
    async (away) => {
      const [leases, work] = [new UnsteadyLeases(time.now), new Work()];
      const a = runner(leases, work, 'a');
      await until('a holds', () => a.state === 'holding');
      leases.away = away;
      await until('the work stops', () => work.running === 0, TTL_MS);
      expect(leases.rows.get('role')!.until).toBeGreaterThan(time.now());
      leases.away = 'no';
      await until('the work starts again', () => work.running === 1);
    },
  );

  test('survives a store that is away for a moment', async () => {
    const [leases, work] = [new UnsteadyLeases(time.now), new Work()];
    const a = runner(leases, work, 'a');
    await until('a holds', () => a.state === 'holding');
    leases.away = 'refusing';
    await until('the first line', () => errors().length > 0);
    const tries = leases.renewals;
    leases.away = 'no';
    await until('renewed again', () => leases.renewals > tries + 1);
    expect([a.state, work.starts]).toEqual(['holding', 1]);
    expect(errors()).toEqual(['lease role: failed; trying again until it works']);
    expect(logger.lines.map(({ message }) => message)).toContain('lease role: works again');
  });

  test('is given up at once when somebody else has the lease', async () => {
    const [leases, work] = [new UnsteadyLeases(time.now), new Work()];
    const a = runner(leases, work, 'a');
    await until('a holds', () => a.state === 'holding');
    leases.forget = true;
    await until('stopped and taken up again', () => work.starts === 2, TTL_MS / 2);
    leases.forget = false;
    expect(work.most).toBe(1);
    expect(errors()).toEqual(['lease lost, stopping']);
  });

  test('can be stopped while the store is silent; a lease that comes late goes back', async () => {
    const [leases, work] = [new UnsteadyLeases(time.now), new Work()];
    let grant: (lease: Lease) => void = () => undefined;
    leases.acquire = () => new Promise((resolve) => (grant = resolve));
    const a = runner(leases, work, 'a');
    await a.stop();
    grant({ name: 'role', holder: 'a', token: 7 });
    await until('given back', () => leases.releases === 1);
    expect(work.starts).toBe(0);
  });
});
