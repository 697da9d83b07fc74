import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Endpoint, EndpointSchedule } from '../../../../infrastructure/webhooks/dispatch/endpoints.ts';

const breaker = { failures: 2, firstPauseMs: 100, longestPauseMs: 100 };
const allowance = { total: 100, retries: 75, perEndpoint: 16 };
const iso = (ms: number): string => new Date(ms).toISOString();
const endpoint = (): Endpoint => new Endpoint('w', breaker);

describe('what an endpoint asks for', () => {
  test('is nothing while nothing is due', () => {
    const one = endpoint();
    expect([one.dueAt, one.request(0, allowance)]).toEqual([Infinity, undefined]);
    one.learn({ webhookId: 'w', firstAttemptAt: iso(50), retryAt: null }, 0);
    expect([one.dueAt, one.request(49, allowance)]).toEqual([50, undefined]);
  });

  test('is all its room for first attempts, and only once per wake', () => {
    const one = endpoint();
    one.wake(0);
    expect(one.request(0, allowance)).toEqual({ webhookId: 'w', firstAttempts: 16, retries: 0 });
    expect(one.request(0, allowance)).toBeUndefined();
    one.wake(1);
    expect(one.request(1, allowance)).toBeDefined();
  });

  test('is three quarters of its room at most for retries, a quarter of it beside first attempts', () => {
    const retries = endpoint();
    retries.retryAt(0);
    expect(retries.request(0, allowance)).toEqual({ webhookId: 'w', firstAttempts: 0, retries: 12 });
    const both = endpoint();
    both.retryAt(0);
    both.wake(0);
    expect(both.request(0, allowance)).toEqual({ webhookId: 'w', firstAttempts: 12, retries: 4 });
  });

  test('is one probe at a time while its breaker is open', () => {
    const one = endpoint();
    one.wake(0);
    one.retryAt(0);
    one.breaker.down(0);
    one.breaker.down(0);
    expect(one.dueAt).toBe(100);
    expect(one.request(100, allowance)).toEqual({ webhookId: 'w', firstAttempts: 0, retries: 1 });
    one.inFlight = 1;
    expect(one.request(100, allowance)).toBeUndefined();
  });

  test('never exceeds what it may take', () => {
    const numbers = fc.record({
      total: fc.nat(50),
      retries: fc.nat(50),
      perEndpoint: fc.integer({ min: 1, max: 16 }),
      inFlight: fc.nat(20),
      retriesInFlight: fc.nat(20),
      firstDue: fc.boolean(),
      retryDue: fc.boolean(),
    });
    fc.assert(
      fc.property(numbers, ({ inFlight, retriesInFlight, firstDue, retryDue, ...allowed }) => {
        const one = endpoint();
        if (firstDue) one.wake(0);
        if (retryDue) one.retryAt(0);
        one.inFlight = inFlight;
        one.retriesInFlight = Math.min(retriesInFlight, inFlight);
        const request = one.request(0, allowed);
        if (!request) return true;
        const { firstAttempts, retries } = request;
        expect(Math.min(firstAttempts, retries)).toBeGreaterThanOrEqual(0);
        expect(firstAttempts + retries).toBeGreaterThan(0);
        expect(firstAttempts + retries).toBeLessThanOrEqual(
          Math.min(allowed.total, allowed.perEndpoint - inFlight),
        );
        expect(retries).toBeLessThanOrEqual(allowed.retries);
        return true;
      }),
    );
  });
});

test('a subscription’s health is noted at every change, and otherwise once a second', () => {
  const one = endpoint();
  const results: [success: boolean, at: number, noted: boolean][] = [
    [true, 0, true],
    [true, 500, false],
    [false, 600, true],
    [false, 700, false],
    [true, 800, true],
    [true, 1_799, false],
    [true, 1_800, true],
  ];
  for (const [success, at, noted] of results) expect([at, one.shouldNote(success, at)]).toEqual([at, noted]);
});

test('an endpoint that failed or was slow is let go of an hour after that, once nothing is left to send to it', () => {
  let now = 0;
  const schedule = new EndpointSchedule({ breaker, now: () => now, onDue: () => undefined });
  const [deleted, waiting] = [schedule.endpoint('deleted'), schedule.endpoint('waiting')];
  for (const one of [deleted, waiting]) one.breaker.down(now);
  const slow = schedule.endpoint('slow');
  slow.attempted(now, 1_000);
  schedule.learn({ webhookId: 'waiting', firstAttemptAt: null, retryAt: iso(86_400_000) });
  const kept = () => {
    schedule.tidy();
    return [deleted, slow, waiting].map((one) => schedule.endpoint(one.webhookId) === one);
  };
  now = 3_600_000;
  expect(kept()).toEqual([true, true, true]);
  now += 1;
  expect(kept()).toEqual([false, false, true]);
  schedule.close();
});
