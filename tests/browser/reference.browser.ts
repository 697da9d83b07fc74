import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { chromium } from 'playwright-core';
import type { Browser, Page } from 'playwright-core';
import { RunningService } from '../support/running-service.ts';

/** Where the distribution puts it; CHROMIUM names another one. */
const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
/** A picture of the page for people, when SCREENSHOT names a file. */
const screenshot = process.env['SCREENSHOT'];

type Json = ReturnType<typeof JSON.parse>;

let running: RunningService;
let browser: Browser;
let page: Page;
const complaints: string[] = [];
const requested: string[] = [];

beforeAll(async () => {
  running = await RunningService.start();
  browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  page = await browser.newPage({ viewport: { width: 1280, height: 1600 } });
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('request', (request) => requested.push(request.url()));
  page.on('requestfailed', (request) => complaints.push(`failed: ${request.url()}`));
  await page.addInitScript(() => {
    const seen: string[] = [];
    Object.assign(globalThis, { violations: seen });
    (globalThis as Json).document.addEventListener('securitypolicyviolation', (event: Json) =>
      seen.push(`${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}`),
    );
  });
  await page.goto(`${running.baseUrl}/docs`);
  await page.waitForSelector('.opblock-summary');
}, 120_000);
afterAll(async () => {
  await browser?.close();
  await running?.stop();
});

const published = (): { id: string; summary: string }[] => {
  const { paths, webhooks } = running.description.document as Json;
  return [...Object.values<Json>(paths), ...Object.values<Json>(webhooks)].flatMap((item) =>
    Object.values<Json>(item).map(({ operationId, summary }) => ({ id: operationId, summary })),
  );
};

describe('the reference in a browser', () => {
  test('shows every operation and every event', async () => {
    const shown = await page.locator('.opblock-summary').allInnerTexts();
    const missing = published().filter(
      ({ id, summary }) => !shown.some((text) => text.includes(id) && text.includes(summary)),
    );
    expect(missing).toEqual([]);
    expect(await page.getByText('Warning').count()).toBe(0);
    for (const block of await page.locator('.opblock-summary').all()) {
      expect(await block.isVisible()).toBe(true);
    }
    if (screenshot !== undefined) {
      mkdirSync(dirname(screenshot), { recursive: true });
      await page.screenshot({ path: screenshot, fullPage: true });
    }
  });

  test('opens an operation with its parameters, body and answers', async () => {
    await page.locator('.opblock-summary', { hasText: 'settleInstallment' }).click();
    const body = page.locator('.opblock', { hasText: 'settleInstallment' }).locator('.opblock-body').first();
    await body.waitFor();
    const text = await body.innerText();
    for (const shown of ['settled_value', 'OP-2026-000123-001', '409', 'idempotency_conflict']) {
      expect(text).toContain(shown);
    }
    if (screenshot !== undefined) {
      await page.screenshot({ path: screenshot.replace('.png', '-operation.png'), fullPage: false });
    }
  });

  test('sends a request that is tried', async () => {
    const block = page.locator('.opblock', { hasText: 'readLiveness' }).first();
    await block.locator('.opblock-summary').click();
    const tryOut = block.getByRole('button', { name: 'Try it out' });
    if (await tryOut.isVisible()) await tryOut.click();
    await block.getByRole('button', { name: 'Execute' }).click();
    const answer = block.locator('.live-responses-table');
    await answer.waitFor();
    expect(await answer.innerText()).toContain('"status": "ok"');
  });

  test('loads nothing from another host, breaks no rule of its policy and complains about nothing', async () => {
    const foreign = requested.filter((url) => !url.startsWith(running.baseUrl) && !url.startsWith('data:'));
    expect(foreign).toEqual([]);
    expect(await page.evaluate(() => (globalThis as Json).violations)).toEqual([]);
    expect(complaints).toEqual([]);
  });
});
