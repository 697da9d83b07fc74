import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { HttpWorld } from '../../../support/http-world.ts';

let world: HttpWorld;
beforeAll(async () => {
  world = await HttpWorld.start({ settings: { deprecation: '2027.3.0; effective=2027-03-01' } });
});
afterAll(() => world.stop());

const read = (path: string, headers: Record<string, string> = {}) =>
  world.call('GET', path, { auth: false, headers: { accept: '*/*', ...headers } });

const assetsOf = (html: string): string[] =>
  [...html.matchAll(/(?:src|href)="(docs\/[^"]+)"/g)].map(([, path]) => `/${path}`);

describe('GET /docs', () => {
  test('is a page for anybody, counted by address, that loads nothing from elsewhere', async () => {
    const { status, headers, text } = await read('/docs', { accept: 'text/html,application/xml;q=0.9' });
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(headers.get('x-ratelimit-limit')).toBe('1200');
    expect(text).not.toMatch(/https?:\/\//);
    expect(text).not.toMatch(/<script(?![^>]* src=)|<style|\son\w+=|\sstyle=/);
    expect(assetsOf(text)).toHaveLength(2);
  });

  test('is what the bare address shows; other methods are refused there', async () => {
    const { text } = await read('/docs');
    const root = await read('/');
    expect([root.status, root.text]).toEqual([200, text]);
    expect((await world.call('POST', '/', { auth: false })).status).toBe(405);
  });

  test('runs scripts of its own only, without eval and without inline scripts, and calls no other host', async () => {
    const policy = (await read('/docs')).headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self';");
    expect(policy).toContain("connect-src 'self';");
    expect(policy.match(/[a-z-]+ [^;]*unsafe[^;]*/g)).toEqual(["style-src 'self' 'unsafe-inline'"]);
    expect((await read('/health/live')).headers.get('content-security-policy')).toBe(
      "default-src 'none'; frame-ancestors 'none'",
    );
  });

  test('its files are kept for ever, because their names change with their content', async () => {
    for (const path of assetsOf((await read('/docs')).text)) {
      const { status, headers, text } = await read(path);
      expect([path, status, headers.get('cache-control')]).toEqual([
        path,
        200,
        'public, max-age=31536000, immutable',
      ]);
      expect(text).not.toContain('sourceMappingURL');
      const etag = headers.get('etag') ?? '';
      const again = await read(path, { 'if-none-match': etag });
      expect([again.status, again.text]).toEqual([304, '']);
    }
    expect((await read('/docs')).headers.get('cache-control')).toBe('no-cache');
  });

  test('any other file is not found', async () => {
    for (const name of ['standalone.js', 'package.json', '..%2f..%2fpackage.json']) {
      const { status, body } = await read(`/docs/${name}`, { accept: '*/*' });
      expect([name, status, body.error_code]).toEqual([name, 404, 'not_found']);
    }
  });
});

describe('compression', () => {
  const size = async (path: string, encoding: string) => {
    const { headers } = await read(path, { 'accept-encoding': encoding });
    return {
      coding: headers.get('content-encoding'),
      bytes: Number(headers.get('content-length')),
      etag: headers.get('etag'),
      vary: headers.get('vary'),
    };
  };

  test.each(['/openapi.json', '/openapi.yaml', '/docs'])('%s for those who can read it', async (path) => {
    const plain = await size(path, 'identity');
    const small = await size(path, 'br;q=1.0, gzip;q=0.8');
    expect([plain.coding, small.coding, small.vary]).toEqual([null, 'gzip', 'Accept-Encoding']);
    expect(small.bytes).toBeLessThan(plain.bytes * (path === '/docs' ? 0.8 : 0.3));
    expect(small.etag).not.toBe(plain.etag);
  });

  test.each(['', 'br', 'gzip;q=0', 'gzip; q=0.0', 'agzip', 'gzip;q=0.5, identity', 'gzip;q=x'])(
    'not for "%s"',
    async (encoding) => {
      expect((await size('/openapi.json', encoding)).coding).toBeNull();
    },
  );

  test('the same text comes out, and HEAD tells the same size', async () => {
    const gzip = { 'accept-encoding': 'gzip' };
    const whole = await read('/openapi.json', gzip);
    expect(whole.body).toEqual(world.description.document);
    const head = await world.call('HEAD', '/openapi.json', { auth: false, headers: gzip });
    expect(head.headers.get('content-length')).toBe(whole.headers.get('content-length'));
  });
});

describe('an announced deprecation', () => {
  test('is on every response', async () => {
    for (const path of ['/openapi.json', '/loan', '/nowhere', '/docs']) {
      expect((await read(path)).headers.get('x-svc-api-deprecation')).toBe('2027.3.0; effective=2027-03-01');
    }
  });

  test('and nowhere when there is none', async () => {
    const quiet = await HttpWorld.start();
    const { headers } = await quiet.call('GET', '/openapi.json', { auth: false });
    expect(headers.has('x-svc-api-deprecation')).toBe(false);
    await quiet.stop();
  });
});
