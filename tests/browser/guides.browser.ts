import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { chromium } from 'playwright-core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { GUIDES } from '../../infrastructure/http/docs/guides/guide-list.ts';
import { HttpWorld } from '../support/http-world.ts';
import { barriers } from './console-browser.ts';

type Json = ReturnType<typeof JSON.parse>;

/** Pictures for people, when SCREENSHOTS names a folder. */
const folder = process.env['SCREENSHOTS'];

let world: HttpWorld;
let browser: Browser;
const complaints: string[] = [];
const requested: string[] = [];

beforeAll(async () => {
  world = await HttpWorld.start();
  browser = await chromium.launch({
    executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
    args: ['--no-sandbox'],
  });
});
afterAll(async () => {
  await browser?.close();
  await world?.stop();
});

jest.setTimeout(240_000);

const opened = async (options: BrowserContextOptions): Promise<Page> => {
  const page = await (await browser.newContext({ baseURL: world.baseUrl, ...options })).newPage();
  page.setDefaultTimeout(60_000);
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('request', (request) => requested.push(request.url()));
  page.on('requestfailed', (request) => complaints.push(`failed: ${request.url()}`));
  return page;
};

const picture = async (page: Page, name: string): Promise<void> => {
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`) });
};

/** How far the page is wider than its window. */
const excess = (page: Page): Promise<number> =>
  page.evaluate(
    () => (globalThis as Json).document.documentElement.scrollWidth - (globalThis as Json).innerWidth,
  );

const DESK = { width: 1_400, height: 900 };
const PHONE = { width: 360, height: 800 };

describe('the guides in a browser', () => {
  test('are read, walked through and searched without any script', async () => {
    const page = await opened({ viewport: DESK, javaScriptEnabled: false });
    await page.goto('/docs/guides');
    await page.getByRole('link', { name: 'Guide for integrators' }).click();
    const contents = page.getByRole('navigation', { name: 'On this page' });
    await contents.getByRole('link', { name: 'Rate limits' }).click();
    expect(new URL(page.url()).hash).toBe('#rate-limits');
    await page
      .getByRole('navigation', { name: 'All guides' })
      .getByRole('link', { name: 'Renegotiation' })
      .click();
    await page.getByRole('heading', { level: 1, name: 'Renegotiation' }).waitFor();
    await page.getByRole('searchbox', { name: 'Search the guides' }).fill('overdue');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByRole('link', { name: 'The life of an operation: Overdue' }).click();
    expect(new URL(page.url()).pathname + new URL(page.url()).hash).toBe('/docs/guides/lifecycle#overdue');
    await page.context().close();
  });

  test.each(['light', 'dark'] as const)(
    'hold nobody up in %s, on a desk and on a phone',
    async (colorScheme) => {
      for (const [name, viewport] of Object.entries({ desk: DESK, phone: PHONE })) {
        const page = await opened({ viewport, colorScheme });
        const pages = ['guides', 'search?q=rate+limit', 'guides/integrators-guide', 'guides/going-live'];
        for (const place of pages) {
          await page.goto(`/docs/${place}`);
          expect([place, name, await barriers(page)]).toEqual([place, name, []]);
          await picture(page, `${place.replaceAll(/\W+/g, '-')}-${name}-${colorScheme}`);
        }
        await page.context().close();
      }
    },
  );

  test('are never wider than a small screen', async () => {
    const page = await opened({ viewport: PHONE });
    for (const { name } of GUIDES) {
      await page.goto(`/docs/guides/${name}`);
      expect([name, await excess(page)]).toEqual([name, 0]);
    }
    await page.context().close();
  });
});

describe('the reference beside them', () => {
  test('is reached at the request that a guide names, and leads back from its group', async () => {
    const page = await opened({ viewport: DESK });
    await page.goto('/docs/guides/lifecycle');
    await page.getByRole('link', { name: 'POST /installment/prepayment' }).first().click();
    await page.getByRole('button', { name: /Test Request\s*\(post \/installment\/prepayment\)$/ }).waitFor();
    await page.goto('/docs#tag/webhooks');
    await page.getByRole('link', { name: 'Webhooks and their signatures' }).click();
    await page.getByRole('main').getByRole('heading', { level: 2, name: 'Webhooks' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/docs/guides/integrators-guide');
    await page.context().close();
  });

  test.each([DESK, PHONE])(
    'breaks no short word of its tables and is no wider than $width',
    async (viewport) => {
      const page = await opened({ viewport });
      await page.goto('/docs');
      const cell = page.getByRole('cell', { name: '400', exact: true }).first();
      await cell.waitFor();
      const lines = await cell.evaluate((one: Json) => {
        const range = (globalThis as Json).document.createRange();
        range.selectNodeContents(one);
        return range.getClientRects().length;
      });
      expect([lines, await excess(page)]).toEqual([1, 0]);
      await picture(page, `reference-${viewport.width}`);
      await page.context().close();
    },
  );

  test('loads nothing from another host and complains about nothing', () => {
    expect(
      requested.filter((url) => !url.startsWith(`${world.baseUrl}/`) && !url.startsWith('data:')),
    ).toEqual([]);
    expect(complaints).toEqual([]);
  });
});
