import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { OverShareError } from '../../../../application/ports/busy-error.ts';
import { TokenBucketLimiter } from '../../../../infrastructure/http/limits/rate-limiter.ts';
import { FUND, client, tokenFor } from '../../../support/http-fakes.ts';
import { validSettlement } from '../../../support/http-requests.ts';
import { HttpWorld } from '../../../support/http-world.ts';
import type { CallOptions } from '../../../support/http-world.ts';

const LIMIT = { perMinute: 30, burst: 60 };

describe('a token bucket', () => {
  test('holds its burst, refills linearly and tells when', () => {
    let now = 1_000_000;
    const limiter = new TokenBucketLimiter(() => now);
    for (let left = 59; left >= 0; left -= 1) {
      expect(limiter.take('application', 'a', LIMIT)).toMatchObject({
        allowed: true,
        remaining: left,
        limit: 60,
      });
    }
    const refused = limiter.take('application', 'a', LIMIT);
    expect(refused).toEqual({ allowed: false, limit: 60, remaining: 0, resetAt: 1_120, retryAfter: 2 });
    now += 1_999;
    expect(limiter.take('application', 'a', LIMIT).allowed).toBe(false);
    now += 1;
    expect(limiter.take('application', 'a', LIMIT)).toMatchObject({ allowed: true, remaining: 0 });
    now += 10 * 60_000;
    expect(limiter.take('application', 'a', LIMIT)).toMatchObject({ remaining: 59, resetAt: now / 1000 + 2 });
  });

  test('gives several tokens or none, says when they will be there, and takes them back up to its burst', () => {
    let now = 0;
    const limiter = new TokenBucketLimiter(() => now);
    const take = (tokens: number) => limiter.take('application', 'a', LIMIT, tokens);
    expect(take(50)).toMatchObject({ allowed: true, remaining: 10 });
    expect(take(25)).toMatchObject({ allowed: false, remaining: 10, retryAfter: 30 });
    expect(take(10)).toMatchObject({ allowed: true, remaining: 0 });
    expect(take(-1)).toMatchObject({ allowed: true, remaining: 1 });
    now += 30_000;
    expect(take(17)).toMatchObject({ allowed: false, remaining: 16, retryAfter: 2 });
    expect(take(-100)).toMatchObject({ allowed: true, remaining: 60 });
    expect(take(61)).toMatchObject({ allowed: false, remaining: 60 });
  });

  test('a clock that is set back takes nothing away', () => {
    let now = 1_000_000;
    const limiter = new TokenBucketLimiter(() => now);
    limiter.take('address', 'a', LIMIT);
    now = 0;
    expect(limiter.take('address', 'a', LIMIT).remaining).toBe(58);
  });

  test('never gives more than the burst plus what was refilled, and always gives that', () => {
    const steps = fc.array(
      fc.record({ wait: fc.integer({ min: 0, max: 20_000 }), takes: fc.integer({ min: 0, max: 90 }) }),
      {
        maxLength: 30,
      },
    );
    fc.assert(
      fc.property(steps, (walk) => {
        let now = 0;
        let tokens = LIMIT.burst;
        // To reserve room for the buckets of a service costs more than the walk.
        const limiter = new TokenBucketLimiter(() => now, 4_096);
        for (const { wait, takes } of walk) {
          now += wait;
          tokens = Math.min(LIMIT.burst, tokens + (wait * LIMIT.perMinute) / 60_000);
          for (let i = 0; i < takes; i += 1) {
            const expected = tokens >= 1 - 1e-6;
            const { allowed, retryAfter, remaining } = limiter.take('address', 'x', LIMIT);
            if (expected) tokens = Math.max(0, tokens - 1);
            const wait = expected ? 0 : Math.max(1, Math.ceil((1 - tokens) * 2 - 1e-6));
            const right =
              allowed === expected && remaining === Math.floor(tokens + 1e-6) && retryAfter === wait;
            if (!right)
              throw new Error(JSON.stringify({ tokens, expected, allowed, remaining, retryAfter, wait }));
          }
        }
      }),
    );
  });

  test('a flood of addresses neither grows memory nor touches applications', () => {
    const limiter = new TokenBucketLimiter(() => 0, 200_000);
    limiter.take('application', 'a', LIMIT);
    for (let i = 0; i < 20_000; i += 1) limiter.take('address', `address-${i}`, LIMIT);
    expect(limiter.take('application', 'a', LIMIT).remaining).toBe(58);
    expect(limiter.take('address', 'address-19999', LIMIT).remaining).toBe(58);
    expect(limiter.take('address', 'address-0', LIMIT).remaining).toBe(59);
  });
});

describe('requests', () => {
  let world: HttpWorld;
  beforeAll(async () => {
    world = await HttpWorld.start({ settings: { trustProxy: 1 } });
    world.clients.add(client({ clientId: 'client-a2' }));
    world.clients.add(client({ clientId: 'client-b', applicationId: 'app-b' }));
    const contract = { rateLimitMultiplier: 3 };
    world.clients.add(client({ clientId: 'client-x', applicationId: 'app-x', ...contract }));
    world.clients.add(client({ clientId: 'client-x2', applicationId: 'app-x' }), [FUND], contract);
  });
  afterAll(() => world.stop());
  beforeEach(() => {
    world.now += 3_600_000;
  });

  const rate = (headers: Headers) =>
    ['limit', 'remaining', 'reset'].map((name) => Number(headers.get(`x-ratelimit-${name}`)));
  const from = (address: string) => ({ 'x-forwarded-for': address });
  const settle = (options: CallOptions = {}) =>
    world.call('POST', '/installment/settle', { json: validSettlement(), ...options });

  test('share the bucket of their application and row, and of nothing else', async () => {
    expect(rate((await settle()).headers).slice(0, 2)).toEqual([600, 599]);
    expect(rate((await settle({ auth: tokenFor('client-a2') })).headers).slice(0, 2)).toEqual([600, 598]);
    expect(rate((await settle({ auth: tokenFor('client-b') })).headers).slice(0, 2)).toEqual([600, 599]);
    expect(rate((await world.call('GET', '/webhook')).headers).slice(0, 2)).toEqual([1200, 1199]);
    expect(rate((await world.call('GET', '/loan/x')).headers).slice(0, 2)).toEqual([1200, 1198]);
    expect(rate((await world.call('POST', '/webhook/x/pause')).headers).slice(0, 2)).toEqual([60, 59]);
  });

  test('a contract multiplies the limits of the application: another client of it takes none of them away', async () => {
    expect(rate((await settle({ auth: tokenFor('client-x') })).headers).slice(0, 2)).toEqual([1800, 1799]);
    expect(rate((await settle({ auth: tokenFor('client-x2') })).headers).slice(0, 2)).toEqual([1800, 1798]);
    expect(rate((await settle({ auth: tokenFor('client-x') })).headers).slice(0, 2)).toEqual([1800, 1797]);
  });

  test('X-RateLimit-Reset is when the bucket is full again', async () => {
    await settle();
    const { headers } = await settle();
    expect(rate(headers)[2]).toBe(Math.ceil(world.now / 1000 + 2 / 5));
  });

  test('after the burst comes 429 with the endpoint and the seconds, and it takes nothing', async () => {
    for (let i = 0; i < 60; i += 1) expect((await world.call('POST', '/webhook/x/pause')).status).toBe(200);
    for (let i = 0; i < 3; i += 1) {
      const { status, body, headers } = await world.call('POST', '/webhook/x/pause');
      expect([status, body.error_code, body.retryable, headers.get('retry-after')]).toEqual([
        429,
        'rate_limited',
        true,
        '2',
      ]);
      expect(body.message).toBe('Too many requests to POST /webhook/{webhook_id}/pause; wait 2 seconds');
      expect(rate(headers)).toEqual([60, 0, world.now / 1000 + 120]);
    }
    world.now += 2_000;
    expect((await world.call('POST', '/webhook/x/pause')).status).toBe(200);
    expect((await world.call('POST', '/webhook/x/pause')).status).toBe(429);
  });

  test('nor does a 429 of which the handler is the reason', async () => {
    world.behaviour.loans.document = async () => {
      throw new OverShareError('too many documents', 1);
    };
    const { status, headers, body } = await world.call('GET', '/loan/OP-1/documents/d-1');
    expect([status, ...rate(headers).slice(0, 2)]).toEqual([429, 1200, 1200]);
    expect(body.message).toMatch(
      /^GET \/loan\/\{[a-z_]+\}\/documents\/\{document_id\}: Too many documents; wait 1 second/,
    );
  });

  test('refusals before the token is looked at draw from the bucket too, without being refused for it', async () => {
    for (let i = 0; i < 62; i += 1) {
      const { status, headers } = await world.call('POST', '/webhook', {
        body: 'x',
        headers: { 'content-type': 'text/plain' },
      });
      expect([status, rate(headers).slice(0, 2)]).toEqual([415, [60, Math.max(0, 59 - i)]]);
    }
  });

  test('without a valid token the address pays: 401 until its bucket is empty, then 429', async () => {
    for (let i = 0; i < 60; i += 1) {
      const options = { auth: 'forged', headers: from('203.0.113.7') };
      expect((await world.call('POST', '/webhook/x/pause', options)).status).toBe(401);
    }
    const refused = await world.call('POST', '/webhook/x/pause', {
      auth: false,
      headers: from('203.0.113.7'),
    });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '2']);
    const other = await world.call('POST', '/webhook/x/pause', { auth: false, headers: from('203.0.113.8') });
    expect(other.status).toBe(401);
    const valid = await world.call('POST', '/webhook/x/pause', { headers: from('203.0.113.7') });
    expect(valid.status).toBe(200);
  });

  test('addresses of one IPv6 network are one', async () => {
    const seen = async (address: string) =>
      rate((await world.call('GET', '/loan/x', { auth: false, headers: from(address) })).headers)[1];
    expect(await seen('2001:db8:1:2::1')).toBe(1199);
    expect(await seen('2001:0db8:0001:0002:ffff::9')).toBe(1198);
    expect(await seen('2001:db8:1:3::1')).toBe(1199);
  });

  test('health stands outside', async () => {
    for (const path of ['/health/live', '/health/ready']) {
      const { status, headers } = await world.call('GET', path, { auth: false });
      expect([status, headers.get('x-ratelimit-limit')]).toEqual([200, null]);
    }
  });
});
