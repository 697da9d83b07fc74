import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { html } from '../../../infrastructure/console/html.ts';
import { upload } from '../../../infrastructure/console/page.ts';
import type { Page } from '../../../infrastructure/console/page.ts';
import { fileOf } from '../../../infrastructure/console/files.ts';
import { ConsoleServer } from '../../support/console-server.ts';
import type { ConsoleAnswer } from '../../support/console-server.ts';

const MEBIBYTE = 1_048_576;
const PROBE: Page = {
  path: '/',
  title: () => 'Probe',
  routes: [
    upload('/with', MEBIBYTE, async (visit) => {
      const { name, bytes } = fileOf(visit);
      return { kind: 'part', body: html`${name}: ${bytes.length}` };
    }),
    upload('/without', MEBIBYTE, async ({ fields, file }) => ({
      kind: 'part',
      body: html`${fields.get('fund')}, ${file?.name ?? 'no file'}`,
    })),
  ],
};

let server: ConsoleServer;
let headers: Record<string, string>;
beforeAll(async () => {
  server = await ConsoleServer.open({ pages: [PROBE] });
  const { cookie, formToken } = await server.enter();
  headers = { cookie, 'x-form-token': formToken, origin: server.origin, 'accept-language': 'en' };
});
afterAll(() => server.close());

const part = (disposition: string, content: string): string =>
  `--b\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n${content}\r\n`;
const file = (name: string, content: string): string => part(`name="statement"; filename="${name}"`, content);
const send = (path: string, body: string, type = 'multipart/form-data; boundary=b'): Promise<ConsoleAnswer> =>
  server.ask(path, { method: 'POST', headers: { ...headers, 'content-type': type }, body });

test('a file reaches its page with its name, up to the bytes that the page takes', async () => {
  const { status, text } = await send('/with', `${file('extrato março.csv', 'a;b')}--b--\r\n`);
  expect([status, text]).toEqual([200, 'extrato março.csv: 3']);
  expect((await send('/with', `${file('a', 'x'.repeat(MEBIBYTE))}--b--\r\n`)).status).toBe(200);
  const large = await send('/with', `${file('a', 'x'.repeat(MEBIBYTE + 1))}--b--\r\n`);
  expect([large.status, large.text.includes('The file is larger than 1 MiB')]).toEqual([413, true]);
});

test('fields come along, and where no file has to be chosen none is needed', async () => {
  const fund = part('name="fund"', 'F-1');
  expect((await send('/without', `${fund}${file('', '')}--b--\r\n`)).text).toBe('F-1, no file');
  expect((await send('/without', `${fund}${file('a.jsonl', '{}')}--b--\r\n`)).text).toBe('F-1, a.jsonl');
});

test.each([
  ['no file', '/with', `${part('name="fund"', 'F-1')}--b--\r\n`],
  ['two files', '/with', `${file('a', 'x')}${file('b', 'x')}--b--\r\n`],
  ['no end', '/with', file('a', 'x')],
  ['a field that is too long', '/without', `${part('name="fund"', 'x'.repeat(1_001))}--b--\r\n`],
  ['a nested field', '/without', `${part('name="fund[a]"', 'x')}--b--\r\n`],
])('a form with %s is refused', async (_what, path, body) => {
  const { status, text } = await send(path, body);
  expect([status, text.includes('No file arrived')]).toEqual([400, true]);
});

test('anything but a form with a file is refused', async () => {
  expect((await send('/without', 'fund=F-1', 'application/x-www-form-urlencoded')).status).toBe(400);
});
