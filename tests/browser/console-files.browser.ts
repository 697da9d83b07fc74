import { access } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { handOver } from '../../infrastructure/cli/console-command.ts';
import type { TestApplication } from '../lives/world.ts';
import { loanRequest, multipart, smallPdf } from '../support/api-client.ts';
import { atDesk, shown } from './console-browser.ts';

/** A page to a browser that goes by the name, a PDF to whoever reads the beginning; production's parser reads it too. */
const EVIL = Buffer.concat([
  smallPdf(),
  Buffer.from(
    '<!doctype html><title>Sign in</title><form action="/session/language" method="post"><input type="password" name="language" /></form>',
  ),
]);
const NAME = 'evil.html';

let application: TestApplication;

const at = atDesk(async (world) => {
  // A production, as every world is: files are parsed before they are taken.
  application = await world.createApplication();
  const overrides = { backing_documents: [{ type: 'ccb', value: NAME }] };
  const loan = loanRequest(application.funds[0]!, 'OP-1', 12, overrides);
  const body = multipart('loan_data', loan, [{ name: NAME, content: EVIL }]);
  expect((await world.call(application, { method: 'POST', path: '/loan', body })).status).toBe(201);
});

test('a PDF that is a page under its name is shown as a PDF: it asks for nothing and sends nothing', async () => {
  const { page } = at.desk;
  await page.getByRole('link', { name: 'Decisions' }).click();
  await page.getByRole('link', { name: 'OP-1' }).click();
  const link = page.getByRole('link', { name: `ccb: ${NAME}` });
  const answered = page.waitForResponse((response) => response.url().includes('/documents/'));
  const address = new URL((await link.getAttribute('href'))!, page.url()).href;
  // As the link does where no frame is there yet.
  await page.evaluate(
    (src) =>
      new Promise<void>((resolve) => {
        const { document } = globalThis as ReturnType<typeof JSON.parse>;
        const frame = document.createElement('iframe');
        frame.addEventListener('load', () => resolve(), { once: true });
        frame.src = src;
        document.body.append(frame);
      }),
    address,
  );
  expect((await answered).headers()['content-type']).toBe('application/pdf');
  const asked = await Promise.all(
    page.frames().map((frame) => frame.locator('input[type=password]').count()),
  );
  expect(asked.filter((count) => count > 0)).toEqual([]);
  const inFrame = page.frames().find((frame) => frame.url() === address)!;
  expect(
    await inFrame.evaluate(() => (globalThis as ReturnType<typeof JSON.parse>).document.contentType),
  ).toBe('application/pdf');
});

test('a file that its owner alone can read leads into the console, is gone then, and leads nowhere twice', async () => {
  const used = new AbortController();
  const address = at.beside.newAddress(() => used.abort());
  const file = await handOver(address, used.signal);
  const page = await at.browser.openFile(file);
  await shown(page, 'Today');
  expect(page.url()).toBe(new URL('/', address).href);
  await expect(access(file)).rejects.toThrow('ENOENT');
  await page.goto(address);
  await page.getByText('This address was used already').waitFor();
});
