import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { SharedTokenBucketLimiter } from '../../../../infrastructure/http/limits/rate-limiter.ts';
import { TokenBucketLimiter } from '../../../../infrastructure/http/limits/rate-limiter.ts';
import { SqlRateBuckets } from '../../../../application/clients/rate-buckets.ts';
import { bothSets, openPostgres, testPostgres } from '../../../support/postgres/test-postgres.ts';
import type { PostgresFixture, TestPostgres } from '../../../support/postgres/test-postgres.ts';
import { RecordingLogger } from '../../../support/recording-logger.ts';

/** It refills by nothing that a slow machine could see. */
const LIMIT = { perMinute: 0.001, burst: 100 };
const KEYS = 20;

let postgres: TestPostgres;
let fixtures: readonly PostgresFixture[];
beforeAll(async () => {
  postgres = await testPostgres();
  const first = await openPostgres(postgres, bothSets);
  fixtures = [first, await openPostgres(postgres, bothSets, { url: first.url })];
});
afterAll(async () => {
  for (const { close } of fixtures) await close();
  await postgres.close();
});

test('two processes over one PostgreSQL allow each limit exactly once, and never wait for each other in a circle', async () => {
  const logger = new RecordingLogger();
  const limiters = fixtures.map(
    ({ database }) =>
      new SharedTokenBucketLimiter({
        buckets: new SqlRateBuckets(database),
        local: new TokenBucketLimiter(),
        logger,
        now: () => performance.now(),
        answerWithinMs: 60_000,
      }),
  );
  const counts = new Map<number, number>();
  const take = async (i: number): Promise<void> => {
    // Each process meets the buckets in another order.
    const nth = Math.floor(i / 2) % KEYS;
    const key = i % 2 ? nth : KEYS - 1 - nth;
    const { allowed } = await limiters[i % 2]!.take('application', `key ${key}`, LIMIT);
    if (allowed) counts.set(key, (counts.get(key) ?? 0) + 1);
  };
  for (let round = 0; round < 20; round++) {
    await Promise.all(Array.from({ length: 500 }, (_, i) => take(round * 500 + i)));
  }
  expect([...counts.values()]).toEqual(Array.from({ length: counts.size }, () => LIMIT.burst));
  expect(counts.size).toBe(KEYS);
  expect(await new SqlRateBuckets(fixtures[0]!.database).forgetFull()).toBe(0);
  expect(logger.lines).toEqual([]);
});
