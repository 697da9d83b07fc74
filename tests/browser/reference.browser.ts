import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { chromium } from 'playwright-core';
import type { Browser, Locator, Page, Request } from 'playwright-core';
import { smallPdf } from '../support/api-client.ts';
import type { ClientCredentials } from '../support/api-client.ts';
import { RunningService } from '../support/running-service.ts';
import { within } from '../support/within.ts';

/** Where the distribution puts it; CHROMIUM names another one. */
const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
/** A picture of the page for people, when SCREENSHOT names a file. */
const screenshot = process.env['SCREENSHOT'];

type Json = ReturnType<typeof JSON.parse>;

let running: RunningService;
let document: Json;
let browser: Browser;
let page: Page;
let credentials: ClientCredentials;
const complaints: string[] = [];
const requested: string[] = [];

beforeAll(async () => {
  running = await RunningService.start();
  ({ document } = await running.description());
  const { example } = document.paths['/loan'].post.requestBody.content['multipart/form-data'];
  credentials = await running.createClient(example.loan_data.fund_id);
  browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  page = await browser.newPage({ viewport: { width: 1500, height: 1000 } });
  page.setDefaultTimeout(60_000);
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
  await page.getByRole('heading', { name: 'Errors' }).waitFor();
}, 240_000);
afterAll(async () => {
  await browser?.close();
  await running?.stop();
});

const picture = async (suffix: string): Promise<void> => {
  if (screenshot === undefined) return;
  mkdirSync(dirname(screenshot), { recursive: true });
  await page.screenshot({ path: screenshot.replace('.png', `${suffix}.png`) });
};

const published = (): { id: string; summary: string; tag: string }[] => {
  const { paths, webhooks } = document;
  return [...Object.values<Json>(paths), ...Object.values<Json>(webhooks)].flatMap((item) =>
    Object.values<Json>(item).map(({ operationId, summary, tags }) => ({
      id: operationId,
      summary,
      tag: tags[0],
    })),
  );
};

/** Shows one operation: its address on the page is what a reader would share. */
const open = async (tag: string, method: string, path: string): Promise<void> => {
  await page.goto(`${running.baseUrl}/docs#tag/${tag}/${method.toUpperCase()}${path}`);
  await tryOut(method, path).waitFor();
};

const tryOut = (method: string, path: string): Locator =>
  page.getByRole('button', { name: new RegExp(`Test Request\\s*\\(${method} ${path}\\)$`) });

/** Sends the open request and returns it as it went out, with its answer. */
const send = async (dialog: Locator, path: string): Promise<{ request: Request; status: number }> => {
  const answered = page.waitForResponse((response) => new URL(response.url()).pathname === path);
  await dialog.getByRole('button', { name: /^Send/ }).first().click();
  const response = await answered;
  return { request: response.request(), status: response.status() };
};

const authorise = async (dialog: Locator): Promise<void> => {
  await dialog.locator('[contenteditable][data-placeholder="12345"]').click();
  await page.keyboard.type(credentials.client_id);
  await dialog.getByPlaceholder('XYZ123').fill(credentials.client_secret);
  const token = page.waitForResponse(`${running.baseUrl}/token`);
  await dialog.getByRole('button', { name: 'Authorize' }).click();
  expect((await token).status()).toBe(200);
  await dialog.getByText('Access Token', { exact: true }).waitFor();
};

const choose = async (dialog: Locator, name: string): Promise<void> => {
  const [chooser] = await Promise.all([
    page.waitForEvent('filechooser'),
    dialog
      .getByRole('row', { name: /files(?!_)/ })
      .getByRole('button', { name: /Select File/ })
      .first()
      .click(),
  ]);
  await chooser.setFiles({ name, mimeType: 'application/pdf', buffer: Buffer.from(smallPdf()) });
  await dialog
    .getByRole('row', { name: new RegExp(name.replace('.', '\\.')) })
    .last()
    .waitFor();
};

const TAGS = ['Loans', 'Installments', 'Webhooks', 'Authentication', 'Service', 'Sandbox'];

jest.setTimeout(240_000);

describe('the reference in a browser', () => {
  test('begins with the operations and ends with the service about itself and the sandbox', async () => {
    const sidebar = page.locator('aside');
    const lines = (await sidebar.innerText()).split('\n').map((line) => line.trim());
    const order = TAGS.map((tag) => lines.indexOf(tag));
    expect(order).toEqual([...order].sort((a, b) => a - b));
    expect(order).not.toContain(-1);
    await picture('');
  });

  test('shows every operation and every event', async () => {
    for (const tag of TAGS) {
      const group = page.getByRole('button', { name: `Open Group - ${tag}`, exact: true });
      if ((await group.count()) > 0) await group.click();
    }
    let missing: unknown[] = published();
    await within('all are shown', 60_000, async () => {
      const shown = (await page.locator('aside').innerText()).replaceAll(/\s+/g, ' ');
      missing = published().filter(({ summary }) => !shown.includes(summary));
      return missing.length === 0;
    }).catch(() => undefined);
    expect(missing).toEqual([]);
  });

  test('says what all refusals have in common once, and of an operation what is its own', async () => {
    await open('installments', 'post', '/installment/settle');
    await picture('-operation');
    const section = page.locator('section', { has: tryOut('post', '/installment/settle') }).last();
    const text = await section.innerText();
    for (const shown of ['settled_value', `"'$CODE'-001"`, 'OP-2026-000123', '409', 'idempotency_conflict']) {
      expect(text).toContain(shown);
    }
    expect(await section.getByText('X-RateLimit-Remaining').count()).toBe(0);
    await page.goto(`${running.baseUrl}/docs`);
    const table = page.locator('table', { hasText: 'installment_already_closed' });
    await table.waitFor();
    expect(await table.innerText()).toContain('concurrent_modification');
  });

  test('shows the samples of the description, and none of its own making', async () => {
    await open('loans', 'post', '/loan');
    const card = page
      .getByRole('group')
      .filter({ has: tryOut('post', '/loan') })
      .last();
    await within('the first sample is shown', 60_000, async () =>
      (await card.innerText()).includes('files=@ccb.pdf'),
    );
    await card.getByRole('button', { name: 'Shell' }).click();
    const names = await page.getByRole('option').allInnerTexts();
    expect(names).toEqual(['Shell', 'JavaScript', 'Python']);
    await page.getByRole('option', { name: 'Python' }).click();
    await within('another one is shown', 60_000, async () =>
      (await card.innerText()).includes('urllib.request'),
    );
    await picture('-samples');
  });

  test('fetches a token and assigns an operation with a file', async () => {
    await open('loans', 'post', '/loan');
    await tryOut('post', '/loan').click();
    const dialog = page.getByRole('dialog').last();
    await authorise(dialog);
    await choose(dialog, 'ccb.pdf');
    const { request, status } = await send(dialog, '/loan');
    expect([request.method(), status, request.headers()['x-sandbox-outcome']]).toEqual([
      'POST',
      201,
      undefined,
    ]);
    await dialog.getByText('201').first().waitFor();
    await picture('-assigned');
    await page.getByRole('button', { name: 'Close Client' }).locator('visible=true').first().click();
  });

  test('sends it a further document', async () => {
    await open('loans', 'post', '/loan/files');
    await tryOut('post', '/loan/files').click();
    const dialog = page.getByRole('dialog').last();
    await choose(dialog, 'contract.pdf');
    expect((await send(dialog, '/loan/files')).status).toBe(201);
    await page.getByRole('button', { name: 'Close Client' }).locator('visible=true').first().click();
  });

  test('reads it with the same token, and sends no optional parameter that nobody filled in', async () => {
    await open('loans', 'get', '/loan');
    await tryOut('get', '/loan').click();
    const { request, status } = await send(page.getByRole('dialog').last(), '/loan');
    expect([request.url(), status]).toEqual([`${running.baseUrl}/loan`, 200]);
  });

  test('loads nothing from another host, breaks no rule of its policy and complains about nothing', async () => {
    const foreign = requested.filter(
      (url) => !url.startsWith(`${running.baseUrl}/`) && !url.startsWith('data:'),
    );
    expect(foreign).toEqual([]);
    expect(await page.evaluate(() => (globalThis as Json).violations)).toEqual([]);
    expect(complaints).toEqual([]);
  });
});
