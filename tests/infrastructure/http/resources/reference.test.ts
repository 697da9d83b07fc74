import { afterAll, describe, expect, test } from '@jest/globals';
import { GUIDES } from '../../../../infrastructure/http/docs/guides/guide-list.ts';
import { HttpWorld } from '../../../support/http-world.ts';
import { MOST_MS, mainThreadCost } from '../../../support/main-thread-cost.ts';

const world = await HttpWorld.start({ settings: { apiDeprecation: '2027.3.0; effective=2027-03-01' } });
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

const guide = (name: string) => read(`/docs/guides/${name}`);
const idsOf = (html: string): string[] => [...html.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id);
const hrefsOf = (html: string): string[] =>
  [...html.matchAll(/<(?:a|link)[^>]* href="([^"]+)"/g)].map(([, href = '']) =>
    href.replaceAll('&amp;', '&'),
  );

describe('GET /docs/guides', () => {
  test('lists all guides, and each is a page for anybody without any script, counted by address', async () => {
    const list = await read('/docs/guides', { accept: 'text/html' });
    expect([list.status, list.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    for (const { name, file } of GUIDES) {
      const { status, headers, text } = await guide(name);
      expect([name, status, headers.get('cache-control')]).toEqual([name, 200, 'no-cache']);
      expect(headers.get('x-ratelimit-limit')).toBe('1200');
      expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'self';/);
      expect(text).not.toMatch(/<script|<style|<img|<iframe|\son\w+=|\sstyle=|<!--/);
      expect(list.text.includes(`"guides/${name}"`)).toBe(file.endsWith('.md'));
    }
  });

  test('every link of every guide leads to a guide and a heading of it, a request of the reference, or another site', async () => {
    const { paths } = world.description.document as { paths: Record<string, Record<string, object>> };
    const requests = new Set(
      Object.entries(paths).flatMap(([path, methods]) =>
        Object.keys(methods).map((method) => `${method.toUpperCase()}${path}`),
      ),
    );
    const pages = new Map<string, string>();
    for (const { name } of GUIDES) pages.set(`/docs/guides/${name}`, (await guide(name)).text);
    const seen = { requests: 0, guides: 0 };
    const isServed = async (place: URL): Promise<boolean> => {
      const anchor = decodeURIComponent(place.hash.slice(1));
      if (place.pathname === '/docs' && anchor !== '') {
        seen.requests += 1;
        return requests.has(anchor.replace(/^tag\/[^/]+\//, ''));
      }
      const page = pages.get(place.pathname) ?? (await read(place.pathname)).text;
      seen.guides += 1;
      return !page.startsWith('{') && (anchor === '' || idsOf(page).includes(anchor));
    };
    for (const address of ['/docs/guides', '/docs/search', ...pages.keys()]) {
      const html = pages.get(address) ?? (await read(address)).text;
      const places = [...new Set(hrefsOf(html))]
        .filter((href) => !href.startsWith('https:') && href !== 'data:,')
        .map((href) => new URL(href, world.baseUrl + address));
      for (const place of places) expect([address, place.href, await isServed(place)]).toContain(true);
    }
    expect(seen.requests).toBeGreaterThan(50);
    expect(seen.guides).toBeGreaterThan(200);
  });

  test('what is not served is named with its place beside the source', async () => {
    const { text } = await guide('sandbox');
    expect(text).toContain('topic <span class="elsewhere">(docs/administrator.md)</span>');
    expect(text).not.toContain('administrator.md"');
  });

  test('a copy is good until the guide changes; another name is not found', async () => {
    const { headers } = await guide('lifecycle');
    const again = await read('/docs/guides/lifecycle', { 'if-none-match': headers.get('etag') ?? '' });
    expect([again.status, again.text]).toEqual([304, '']);
    const head = await world.call('HEAD', '/docs/guides/lifecycle', {
      auth: false,
      headers: { accept: '*/*' },
    });
    expect([head.status, head.headers.get('content-length')]).toEqual([200, headers.get('content-length')]);
    for (const name of ['administrator', 'lifecycle.md', '..%2flifecycle', '__proto__']) {
      const { status, body } = await guide(name);
      expect([name, status, body.error_code]).toEqual([name, 404, 'not_found']);
    }
  });
});

describe('GET /docs/search', () => {
  const search = (question: string) => read(`/docs/search?q=${encodeURIComponent(question)}`);
  const found = async (question: string): Promise<string[]> =>
    [...(await search(question)).text.matchAll(/<li><a href="guides\/([^"]+)">[^<]*<\/a><p>/g)].map(
      ([, place = '']) => place,
    );

  test.each([
    ['overdue', 'lifecycle#overdue'],
    ['rate limit', 'integrators-guide#rate-limits'],
    ['Rate-Limits', 'integrators-guide#rate-limits'],
    ['retry', 'integrators-guide#idempotency-and-retries'],
    ['signature', 'integrators-guide#webhooks'],
    ['signature', 'webhook-verifier'],
    ['renegotiation', 'renegotiation'],
    ['renegotations', 'renegotiation'],
    ['check digits', 'going-live#what-is-refused-then'],
    ['idempotency_conflict', 'integrators-guide#idempotency-and-retries'],
  ])('%s is explained in %s', async (question, place) => {
    expect((await found(question)).slice(0, 5)).toContain(place);
  });

  test.each([
    ['dry_run', 'integrators-guide#quotes-with-dry_run'],
    ['batch', 'integrators-guide#many-at-once'],
    ['feed', 'integrators-guide#recovering-by-the-feed'],
    ['redelivery', 'integrators-guide#webhooks'],
    ['expired token', 'integrators-guide#tokens'],
    ['idempotency', 'integrators-guide#idempotency-and-retries'],
  ])('%s is explained in %s first of all', async (question, place) => {
    expect((await found(question))[0]).toBe(place);
  });

  test('shows the passage with the words, and what was asked as text', async () => {
    expect((await search('discount')).text).toContain('<mark>discount</mark>');
    const { status, headers, text } = await search('<b onload="x">&amp;');
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(text).toContain('&lt;b onload=&quot;x&quot;&gt;&amp;amp;');
    expect(text).not.toContain('<b onload');
  });

  test('finds nothing for nothing, and is bounded', async () => {
    for (const question of ['', ' ', '"', 'zzzzqqqq']) expect(await found(question)).toEqual([]);
    expect((await read('/docs/search')).status).toBe(200);
    expect((await found('the')).length).toBeLessThanOrEqual(20);
    const { status, body } = await search('x'.repeat(101));
    expect([status, body.error_code, body.details[0].field]).toEqual([400, 'invalid_query_parameter', 'q']);
  });

  test.each([
    ['many letters', 'a b c d e f g h i j k l m n o p q r s t u v w x y z 0 1 2 3 4 5 6 7 8 9'],
    ['many beginnings', 'con ins rec ope rep dat the and for with'],
    ['many that are misspelt', 'operatian installmant settlemant webhoak deliverios signatura requist'],
    ['one long word', 'x'.repeat(100)],
  ])('%s cost the thread that serves everybody next to nothing', async (_, question) => {
    await search(question);
    const cost = await mainThreadCost(() => search(question));
    expect(cost).toBeLessThan(MOST_MS);
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
