import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  SharedTokenBucketLimiter,
  TokenBucketLimiter,
} from '../../../../infrastructure/http/limits/rate-limiter.ts';
import type { RateLimiter, RateState } from '../../../../infrastructure/http/limits/rate-limiter.ts';
import { SqlRateBuckets } from '../../../../application/clients/rate-buckets.ts';
import { RecordingLogger } from '../../../support/recording-logger.ts';
import { openServiceDatabase } from '../../../support/sql/temporary-database.ts';
import type { TemporaryDatabase } from '../../../support/sql/temporary-database.ts';
import { within } from '../../../support/within.ts';

type Buckets = Pick<SqlRateBuckets, 'draw' | 'forgetFull'>;

/** Refills slowly enough that a test on a busy machine sees no new token. */
const LIMIT = { perMinute: 1, burst: 20 };

const take = async (
  limiter: RateLimiter,
  scope: 'application' | 'address',
  key: string,
): Promise<RateState> => limiter.take(scope, key, LIMIT);

const allowed = (states: readonly RateState[]): number => states.filter((state) => state.allowed).length;

describe('rate limits of several processes over one database', () => {
  let fixture: TemporaryDatabase;
  beforeAll(async () => {
    fixture = await openServiceDatabase();
  });
  afterAll(() => fixture.close());

  const limiterOver = (buckets: Buckets, logger = new RecordingLogger()): SharedTokenBucketLimiter => {
    const now = (): number => performance.now();
    return new SharedTokenBucketLimiter({ buckets, local: new TokenBucketLimiter(), logger, now });
  };
  const process = (): SharedTokenBucketLimiter => limiterOver(new SqlRateBuckets(fixture.database));

  test('together allow the limit once, however the calls are spread', async () => {
    const [a, b] = [process(), process()];
    const calls = Array.from({ length: 60 }, (_, i) => take(i % 2 ? a : b, 'application', 'spread'));
    const states = await Promise.all(calls);
    expect(allowed(states)).toBe(LIMIT.burst);
    for (const { allowed, remaining, retryAfter, limit } of states) {
      expect(limit).toBe(LIMIT.burst);
      if (!allowed) expect([remaining, retryAfter >= 1 && retryAfter <= 60]).toEqual([0, true]);
      else expect(retryAfter).toBe(0);
    }
  });

  test('count down in the headers, one token a call, also when calls travel together', async () => {
    const limiter = process();
    const calls = Array.from({ length: 5 }, () => take(limiter, 'application', 'headers'));
    expect((await Promise.all(calls)).map(({ remaining }) => remaining)).toEqual([19, 18, 17, 16, 15]);
    const { remaining, resetAt } = await process().take('application', 'headers', LIMIT);
    expect(remaining).toBe(14);
    const fullIn = resetAt - Date.now() / 1000;
    expect(fullIn).toBeGreaterThan(300);
    expect(fullIn).toBeLessThan(362);
  });

  test('give several tokens or none, also among calls that travel together, and take tokens back', async () => {
    const [limiter, other] = [process(), process()];
    const wanted = async (tokens: number, from = limiter): Promise<RateState> =>
      from.take('application', 'several', LIMIT, tokens);
    expect(await wanted(5)).toMatchObject({ allowed: true, remaining: 15 });
    const [many, one, rest, back] = await Promise.all([16, 1, 14, -1].map((tokens) => wanted(tokens)));
    expect([many!.allowed, one!.allowed, rest!.allowed, back!.allowed]).toEqual([true, false, false, true]);
    expect(await wanted(-16, other)).toMatchObject({ allowed: true, remaining: 16 });
    const refused = await wanted(18);
    expect(refused).toMatchObject({ allowed: false, remaining: 16 });
    expect(refused.retryAfter).toBeGreaterThan(60);
    expect(refused.retryAfter).toBeLessThanOrEqual(120);
    // What the refused call could have had is there again, for everybody.
    await wanted(0);
    expect(await wanted(16, other)).toMatchObject({ allowed: true, remaining: 0 });
    expect(await wanted(-100)).toMatchObject({ allowed: true, remaining: 20 });
    expect(await wanted(21, other)).toMatchObject({ allowed: false, remaining: 20 });
  });

  test('keep scopes and keys apart, and take any key', async () => {
    const limiter = process();
    const long = 'x'.repeat(100_000);
    const calls = [
      take(limiter, 'application', 'k'),
      take(limiter, 'address', 'k'),
      take(limiter, 'address', long),
    ];
    expect((await Promise.all(calls)).map(({ remaining }) => remaining)).toEqual([19, 19, 19]);
  });

  test('refill with time', async () => {
    const fast = { perMinute: 60_000, burst: 2 };
    const limiter = process();
    const deadline = Date.now() + 60_000;
    let taken = 0;
    while (taken < 10 && Date.now() < deadline) {
      if ((await limiter.take('application', 'refill', fast)).allowed) taken += 1;
    }
    expect(taken).toBe(10);
  });

  test('tokens given back never fill a bucket beyond its burst', async () => {
    const buckets = new SqlRateBuckets(fixture.database);
    const demand = { key: 'given back', burst: 10, perMinute: 60, asked: -3 };
    for (let i = 0; i < 2; i += 1) expect(await buckets.draw([demand])).toMatchObject([{ tokens: 10 }]);
  });

  test('leave nothing behind for buckets that are full again', async () => {
    const buckets = new SqlRateBuckets(fixture.database);
    const demand = { key: 'gone soon', burst: 2, perMinute: 6_000_000, asked: 1 };
    await buckets.draw([demand, { ...demand, key: 'stays', perMinute: 1 }]);
    const { builder } = fixture.database;
    const query = builder.selectFrom('rate_bucket').select('key').where('key', 'in', ['gone soon', 'stays']);
    const left = async (): Promise<readonly string[]> => {
      await buckets.forgetFull();
      return (await fixture.database.read(query)).map(({ key }) => key);
    };
    await within('one is forgotten', 60_000, async () => (await left()).length === 1);
    expect(await left()).toEqual(['stays']);
  });

  test('fall back to each process by itself while the database is away, and say so once', async () => {
    const logger = new RecordingLogger();
    let away = true;
    let draws = 0;
    const real = new SqlRateBuckets(fixture.database);
    const unsteady: Buckets = {
      draw: (demands) => {
        draws += 1;
        return away ? Promise.reject(new Error('away')) : real.draw(demands);
      },
      forgetFull: () => real.forgetFull(),
    };
    let ms = 0;
    const local = new TokenBucketLimiter();
    const limiter = new SharedTokenBucketLimiter({ buckets: unsteady, local, logger, now: () => ms });
    const states = [];
    for (let i = 0; i < 30; i++) states.push(await limiter.take('application', 'alone', LIMIT));
    expect(allowed(states)).toBe(LIMIT.burst);
    expect(draws).toBe(1);
    away = false;
    ms += 1_001;
    expect((await limiter.take('application', 'alone', LIMIT)).remaining).toBe(19);
    expect(logger.lines.map(({ level }) => level)).toEqual(['warn', 'info']);
  });

  test('do not wait for a database that is silent', async () => {
    const silent: Buckets = {
      draw: () => new Promise(() => undefined),
      forgetFull: () => Promise.resolve(0),
    };
    const begun = performance.now();
    expect((await limiterOver(silent).take('address', 'a', LIMIT)).allowed).toBe(true);
    expect(performance.now() - begun).toBeLessThan(20_000);
  });

  test('send one statement at a time, whatever waits', async () => {
    let [underWay, most, draws] = [0, 0, 0];
    const real = new SqlRateBuckets(fixture.database);
    const counting: Buckets = {
      draw: async (demands) => {
        draws += 1;
        most = Math.max(most, ++underWay);
        return real.draw(demands).finally(() => (underWay -= 1));
      },
      forgetFull: () => real.forgetFull(),
    };
    const limiter = limiterOver(counting);
    const calls = Array.from({ length: 1_000 }, (_, i) => take(limiter, 'address', `many ${i % 700}`));
    expect(allowed(await Promise.all(calls))).toBe(1_000);
    expect([most, draws]).toEqual([1, 2]);
  });
});
