import { Agent, request } from 'node:http';
import { afterAll, describe, expect, test } from '@jest/globals';
import { analyse } from 'scslre';
import { OPERATIONS } from '../../../../infrastructure/http/resources/endpoints.ts';
import { HttpWorld } from '../../../support/http-world.ts';
import { MOST_MS, mainThreadCost } from '../../../support/main-thread-cost.ts';

type Json = ReturnType<typeof JSON.parse>;

const world = await HttpWorld.start();
afterAll(() => world.stop());

const get = (path: string, headers: Record<string, string>, agent: Agent | false = false): Promise<number> =>
  new Promise((resolve, reject) => {
    const outgoing = request({ port: world.port, host: '127.0.0.1', path, headers, agent }, (res) => {
      res.resume().on('end', () => resolve(res.statusCode ?? 0));
    });
    outgoing.on('error', reject).end();
  });

const LENGTH = 15_600;
const HOSTILE: readonly (readonly [what: string, value: string])[] = [
  ['spaces', `gzip,${' '.repeat(LENGTH)}x`],
  ['spaces behind a name', `a;${' '.repeat(LENGTH)}x`],
  ['commas', ','.repeat(LENGTH)],
  ['semicolons', ';'.repeat(LENGTH)],
  ['quotes', '"'.repeat(LENGTH)],
  ['an open quotation', `a;b="${'\\"'.repeat(LENGTH / 2)}`],
  ['wildcards', '*/*,'.repeat(LENGTH / 4)],
  ['weights', 'gzip;q=0.1,'.repeat(LENGTH / 11)],
  ['parameters', `a/b${';a=b'.repeat(LENGTH / 4)}`],
];
const HEADERS = [
  ...['accept-encoding', 'accept', 'if-none-match', 'authorization', 'content-type', 'cookie'],
  ...['x-forwarded-for', 'traceparent', 'accept-language', 'range', 'forwarded'],
];

describe('a header of 16 KiB', () => {
  test.each(HEADERS)('%s costs the thread that serves everybody next to nothing', async (name) => {
    await get('/openapi.json', { 'accept-encoding': 'gzip' });
    for (const [what, value] of HOSTILE) {
      const cost = await mainThreadCost(() => get('/openapi.json', { [name]: value }));
      expect({ name, what, cheap: cost < MOST_MS || cost }).toEqual({ name, what, cheap: true });
    }
  });
});

describe('what anybody may ask for', () => {
  test('is counted by address, but for the state of health', () => {
    const uncounted = OPERATIONS.filter(({ bucket }) => bucket === null).map(({ path }) => path);
    expect(uncounted).toEqual(['/health/live', '/health/ready']);
  });

  test('and is refused once the bucket of the address is empty: the page like its files', async () => {
    const html = (await world.call('GET', '/docs', { auth: false, headers: { accept: '*/*' } })).text;
    const asset = `/${/docs\/[^"]+\.js/.exec(html)?.[0]}`;
    const agent = new Agent({ keepAlive: true, maxSockets: 20 });
    const ask = (path: string) => get(path, { accept: '*/*' }, agent);
    const answers = await Promise.all(Array.from({ length: 1_200 }, () => ask('/docs')));
    expect(new Set(answers)).toEqual(new Set([200, 429]));
    expect(await ask(asset)).toBe(429);
    world.now += 60_000;
    expect(await ask(asset)).toBe(200);
    agent.destroy();
  });
});

describe('the expressions of the descriptions', () => {
  const patternsOf = (node: Json): string[] =>
    typeof node !== 'object' || node === null
      ? []
      : Object.entries<Json>(node).flatMap(([key, value]) =>
          key === 'pattern' && typeof value === 'string' ? [value] : patternsOf(value),
        );

  test.each(['/openapi.json', '/asyncapi.json'])('cost no more than the text is long: %s', async (path) => {
    const { body } = await world.call('GET', path, { auth: false });
    const patterns = [...new Set(patternsOf(body))];
    expect(patterns.length).toBeGreaterThan(0);
    const costly = patterns.filter(
      (pattern) =>
        analyse({ source: pattern, flags: 'u' }, { assumeRejectingSuffix: true }).reports.length > 0,
    );
    expect(costly).toEqual([]);
  });
});
