import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { client, tokenFor } from '../../../support/http-fakes.ts';
import { HttpWorld } from '../../../support/http-world.ts';

const world = await HttpWorld.start();
afterAll(() => world.stop());
beforeEach(() => {
  world.now += 3_600_000;
});

const GRANT = { grant_type: 'client_credentials' };
const GOOD = { ...GRANT, client_id: 'client-a', client_secret: 'right' };
const post = (fields: Record<string, string> | string, headers: Record<string, string> = {}) =>
  world.call('POST', '/token', { auth: false, body: new URLSearchParams(fields), headers });
const basic = (id: string, secret: string) => ({
  authorization: `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64')}`,
});

describe('POST /token', () => {
  test('exchanges the form for a token that is never stored on the way', async () => {
    const { status, body, headers } = await post(GOOD);
    expect([status, body]).toEqual([
      200,
      { access_token: tokenFor('client-a'), token_type: 'Bearer', expires_in: 3600, scope: 'loans:read' },
    ]);
    expect(headers.get('cache-control')).toBe('no-store');
  });

  test('takes HTTP Basic as well', async () => {
    world.clients.add(client({ clientId: 'odd:id +%' }));
    expect((await post(GRANT, basic('odd:id +%', 'right'))).status).toBe(200);
    expect((await post({ ...GRANT, client_id: 'client-a' }, basic('client-a', 'right'))).status).toBe(200);
  });

  test.each([
    ...([
      ['1s', 1],
      ['2s', 2],
      ['59m', 3_540],
      ['60m', 3_600],
      ['3600s', 3_600],
      ['1h', 3_600],
    ] as const),
  ])('in the sandbox makes one that lives for %s', async (lifetime, seconds) => {
    const { status, body } = await post(GOOD, { 'X-Sandbox-Token-Lifetime': lifetime });
    expect([status, body.expires_in]).toEqual([200, seconds]);
  });

  test.each(['', '0s', '3601s', '61m', '2h', '1500ms', '1d', '2', 'soon'])(
    'in the sandbox refuses a life of %j, and names the bounds',
    async (lifetime) => {
      const { status, body } = await post(GOOD, { 'X-Sandbox-Token-Lifetime': lifetime });
      expect([status, body.error_code, body.details[0].field]).toEqual([
        ...[400, 'validation_error', 'X-Sandbox-Token-Lifetime'],
      ]);
      expect(body.message).toContain('from 1s to 1h');
    },
  );

  test('in production knows no shorter life', async () => {
    const production = await HttpWorld.start({ settings: { environment: 'production' } });
    const body = new URLSearchParams(GOOD);
    const headers = { 'X-Sandbox-Token-Lifetime': '0s' };
    const answer = await production.call('POST', '/token', { auth: false, body, headers });
    expect([answer.status, answer.body.expires_in]).toEqual([200, 3_600]);
    await production.stop();
  });

  test('gives an unknown client and a wrong secret the same answer, in both vocabularies, and says what is missing', async () => {
    const answers = [
      await post({ ...GOOD, client_secret: 'wrong' }),
      await post({ ...GOOD, client_id: 'nobody' }),
      await post({ ...GRANT, client_id: 'client-a' }),
      await post(GRANT),
    ];
    for (const { status, body, headers } of answers) {
      expect([status, body.error, body.error_code]).toEqual([401, 'invalid_client', 'invalid_client']);
      expect(body.message).toBe(body.error_description);
      expect(headers.get('www-authenticate')).toMatch(/^Bearer/);
      expect(headers.get('cache-control')).toBe('no-store');
    }
    const [wrong, unknown, ...incomplete] = answers.map(({ body }) => body.message);
    expect(unknown).toBe(wrong);
    for (const message of incomplete) expect(message).toMatch(/^Send client_id and client_secret/);
  });

  test.each([
    ['a wrong secret', basic('client-a', 'wrong').authorization],
    ['no base64', 'Basic client-a:right'],
    ['no colon', `Basic ${Buffer.from('client-a').toString('base64')}`],
    ['nothing', 'Basic'],
    ['another scheme', `Bearer ${tokenFor('client-a')}`],
  ])('answers a header of credentials with %s by the scheme that it takes', async (_what, authorization) => {
    const { status, body, headers } = await post(GRANT, { authorization });
    expect([status, body.error, headers.get('www-authenticate')]).toEqual([
      ...[401, 'invalid_client', 'Basic realm="receivables"'],
    ]);
  });

  test.each([
    [
      'another grant',
      { ...GOOD, grant_type: 'password' },
      'unsupported_grant_type',
      'unsupported_grant_type',
    ],
    ['no grant', { client_id: 'client-a', client_secret: 'right' }, 'invalid_request', 'invalid_request'],
    [
      'a field twice',
      'grant_type=client_credentials&client_id=a&client_id=b&client_secret=c',
      'invalid_request',
      'invalid_request',
    ],
  ])('refuses %s', async (_what, fields, code, error) => {
    const { status, body } = await post(fields);
    expect([status, body.error_code, body.error]).toEqual([400, code, error]);
  });

  test('refuses credentials in both places', async () => {
    const { status, body } = await post(GOOD, basic('client-a', 'right'));
    expect([status, body.error]).toEqual([400, 'invalid_request']);
  });

  test('reads forms only, of at most 16 KiB', async () => {
    const json = await world.call('POST', '/token', { auth: false, json: GOOD });
    expect([json.status, json.body.error_code, json.body.error]).toEqual([
      415,
      'unsupported_media_type',
      'invalid_request',
    ]);
    expect((await post({ ...GOOD, client_secret: 'x'.repeat(20_000) })).status).toBe(413);
  });
});

describe('its rate limit', () => {
  const wrong = (id = 'client-a') => post({ ...GOOD, client_id: id, client_secret: 'wrong' });

  test('counts the tokens of a client at an address', async () => {
    for (let i = 0; i < 20; i += 1)
      expect((await post(GOOD)).headers.get('x-ratelimit-remaining')).toBe(String(19 - i));
    const limited = await post(GOOD);
    expect([limited.status, limited.body.error_code, limited.headers.get('retry-after')]).toEqual([
      429,
      'rate_limited',
      '6',
    ]);
    world.clients.add(client({ clientId: 'client-b' }));
    expect((await post({ ...GOOD, client_id: 'client-b' })).status).toBe(200);
  });

  test('failures of an address share one bucket, whatever ids they name', async () => {
    const statuses: number[] = [];
    for (let i = 0; i < 24; i += 1)
      statuses.push((await wrong(i % 2 === 0 ? 'client-a' : `guess-${i}`)).status);
    expect(statuses).toEqual([...Array<number>(20).fill(401), ...Array<number>(4).fill(429)]);
    const [known, unknown] = [await wrong(), await wrong('nobody')];
    for (const { body, headers } of [known, unknown]) {
      expect([body.error_code, headers.get('x-ratelimit-limit'), headers.get('retry-after')]).toEqual([
        'rate_limited',
        '20',
        '6',
      ]);
    }
  });

  test('a right secret passes, whatever failed before from its address or for its id', async () => {
    for (let i = 0; i < 230; i += 1) await wrong(i % 2 === 0 ? 'client-a' : `guess-${i}`);
    expect((await wrong()).status).toBe(429);
    const { status, headers } = await post(GOOD);
    expect([status, headers.get('x-ratelimit-remaining')]).toEqual([200, '19']);
  });
});

test('a proxy in front that is not trusted is warned of once', async () => {
  const warnings = (of: HttpWorld) =>
    of.logger.lines.filter(({ message }) => message.includes('TRUST_PROXY')).length;
  const trusting = await HttpWorld.start({ settings: { trustProxy: 1 } });
  try {
    for (const one of [world, trusting]) {
      expect(warnings(one)).toBe(0);
      for (let i = 0; i < 3; i += 1) {
        await one.call('GET', '/health/live', { auth: false, headers: { 'x-forwarded-for': '203.0.113.7' } });
      }
    }
    expect([warnings(world), warnings(trusting)]).toEqual([1, 0]);
  } finally {
    await trusting.stop();
  }
});

test('an AUTH_URL with a path works as it is printed, and without its path behind a proxy that takes it off', async () => {
  const below = await HttpWorld.start({ settings: { authUrl: 'http://localhost:3000/oauth/v1' } });
  try {
    const ask = (path: string) =>
      below.call('POST', path, { auth: false, body: new URLSearchParams(GOOD), described: false });
    expect((await ask('/oauth/v1/token')).status).toBe(200);
    expect((await ask('/oauth/v1/token?x=1')).status).toBe(200);
    expect((await ask('/token')).status).toBe(200);
    expect((await ask('/oauth/token')).status).toBe(404);
    const keys = await below.call('GET', '/oauth/v1/.well-known/jwks.json', {
      auth: false,
      described: false,
    });
    expect(keys.status).toBe(200);
    expect((await below.call('GET', '/oauth/v1/loan', { described: false })).status).toBe(404);
  } finally {
    await below.stop();
  }
});
