import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { HttpProblem } from '../../../../infrastructure/http/errors/http-problem.ts';
import { healthApp } from '../../../../infrastructure/http/server/health-app.ts';
import type { Readiness } from '../../../../infrastructure/http/server/health-app.ts';

describe('a process that answers health checks alone', () => {
  let readiness: () => Promise<Readiness> = () => Promise.resolve({ ready: true, checks: { relay: 'ok' } });
  const server = createServer(
    healthApp({
      readiness: () => readiness(),
      otherwise: () => new HttpProblem('not_found', 'This process does not serve the interface.'),
    }),
  );
  let baseUrl = '';
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  const get = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(baseUrl + path, init);
    return { status: response.status, headers: response.headers, body: (await response.json()) as object };
  };

  test('lives, and is ready with what it looked at', async () => {
    expect(await get('/health/live')).toMatchObject({ status: 200, body: { status: 'ok' } });
    expect(await get('/health/ready?x=1')).toMatchObject({
      status: 200,
      body: { status: 'ok', checks: { relay: 'ok' } },
    });
  });

  test.each<[string, () => Promise<Readiness>, string]>([
    [
      'a check that fails',
      () => Promise.resolve({ ready: false, checks: { relay: 'failing' } }),
      'relay: failing',
    ],
    ['a look that fails', () => Promise.reject(new Error('broken')), 'not known'],
  ])('is not ready after %s, and goes on living', async (_, look, text) => {
    readiness = look;
    const { status, headers, body } = await get('/health/ready');
    expect([status, headers.get('retry-after'), headers.get('cache-control')]).toEqual([
      503,
      '1',
      'no-store',
    ]);
    expect(body).toMatchObject({ error_code: 'service_unavailable', retryable: true });
    expect(JSON.stringify(body)).toContain(text);
    expect((await get('/health/live')).status).toBe(200);
  });

  test.each(['/', '/loan/L-1', '/health', '/health/live/x'])('refuses %s', async (path) => {
    const { status, body } = await get(path);
    expect([status, body]).toMatchObject([404, { error_code: 'not_found' }]);
  });

  test('refuses to be told anything', async () => {
    expect((await get('/health/live', { method: 'POST', body: 'x'.repeat(1_000_000) })).status).toBe(404);
  });
});
