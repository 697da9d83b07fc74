import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { World } from '../lives/world.ts';
import { CLIENT, TestProvider } from '../support/openid/test-provider.ts';
import { freePort } from '../support/service-process.ts';
import { ConsoleBeside, ConsoleBrowser, looked, shown } from './console-browser.ts';

jest.setTimeout(240_000);

let world: World;
let provider: TestProvider;
let beside: ConsoleBeside;
let browser: ConsoleBrowser;
let origin: string;

beforeAll(async () => {
  world = await World.start();
  const port = await freePort();
  origin = `http://localhost:${port}`;
  provider = await TestProvider.open([origin]);
  provider.people.set('maria', { name: 'Maria Souza', roles: ['desk'] });
  provider.people.set('joao', { name: 'João Lima', roles: [] });
  beside = await ConsoleBeside.open(
    world,
    { port },
    {
      CONSOLE_PUBLIC_URL: origin,
      CONSOLE_OIDC_ISSUER: provider.issuer,
      CONSOLE_OIDC_CLIENT_ID: CLIENT.id,
      CONSOLE_OIDC_CLIENT_SECRET: CLIENT.secret,
      CONSOLE_OIDC_ROLES: 'maker=desk',
    },
  );
  browser = await ConsoleBrowser.launch();
}, 300_000);
afterAll(async () => {
  await browser?.close();
  await beside?.close();
  await provider?.close();
  await world?.close();
});

/** At the provider, up to the page of the console that follows the one that goes on by itself. */
const goIn = async (page: Page, login: string): Promise<void> => {
  await page.getByLabel('Login').fill(login);
  await page.getByRole('button', { name: 'Go in' }).click();
  await page.waitForURL((url) => url.origin === origin && url.pathname !== '/session/callback');
};

test('a person signs in at the provider, is shown the page that was asked for, and signs out again', async () => {
  const { page, complaints } = await browser.enter(beside, {}, [provider.issuer]);
  await shown(page, 'This is not possible');
  expect(await looked(page, 'sign-in')).toEqual([]);
  await page.goto(`${origin}/operations?status=active`);
  await page.getByRole('link', { name: 'Sign in' }).click();
  await goIn(page, 'maria');
  await shown(page, 'Operations');
  expect(new URL(page.url()).search).toBe('?status=active');
  const banner = page.getByRole('banner');
  await banner.getByText('Maria Souza').waitFor();
  expect(await looked(page, 'signed-in')).toEqual([]);

  await page.getByRole('button', { name: 'Português' }).click();
  await shown(page, 'Operações');
  await page.reload();
  await shown(page, 'Operações');
  await banner.getByRole('button', { name: 'Sair' }).click();
  await page.waitForURL(`${provider.issuer}/**`);
  await page.getByRole('button', { name: 'Go out' }).click();
  await shown(page, 'Signed out');
  await page.goto(`${origin}/operations`);
  await shown(page, 'This is not possible');
  expect(complaints.filter((one) => !one.includes('401'))).toEqual([]);

  await page.getByRole('link', { name: 'Sign in' }).click();
  await page.getByLabel('Login').waitFor();
});

test('another site leads to a page of who is signed in', async () => {
  const { page } = await browser.enter(beside, {}, [provider.issuer]);
  await page.getByRole('link', { name: 'Sign in' }).click();
  await goIn(page, 'maria');
  await shown(page, 'Today');
  await page.goto(`${provider.issuer}/nothing`);
  await page.evaluate(
    (to) => ((globalThis as { location?: { href: string } }).location!.href = to),
    `${origin}/portfolio`,
  );
  await shown(page, 'Portfolio');
});

test('who has no role is told whom to ask', async () => {
  const { page } = await browser.enter(beside, {}, [provider.issuer]);
  await page.getByRole('link', { name: 'Sign in' }).click();
  await goIn(page, 'joao');
  await page.getByText('you have no role at this console').waitFor();
  expect(await page.getByRole('navigation').getByRole('link').count()).toBe(0);
  expect(await looked(page, 'no-role')).toEqual([]);
});

test('a form that was typed into outlives its session', async () => {
  const { page } = await browser.enter(beside, {}, [provider.issuer]);
  await page.getByRole('link', { name: 'Sign in' }).click();
  await goIn(page, 'maria');
  await page.goto(`${origin}/operations`);
  await shown(page, 'Operations');
  await page.getByLabel(/code/i).first().fill('PROP-1');
  for (const { id } of await world.parts.app.desk.sessions.list())
    await world.parts.app.desk.sessions.end(id);
  await page.getByRole('button', { name: 'Search' }).click();
  const [other] = await Promise.all([
    page.waitForEvent('popup'),
    page.getByRole('link', { name: 'Sign in again in another tab' }).click(),
  ]);
  await shown(other, 'Today');
  await page.getByRole('button', { name: 'Search' }).click();
  await page.waitForURL(/operations/);
  await page.getByRole('link', { name: 'Sign in again in another tab' }).waitFor({ state: 'hidden' });
  expect(await page.getByLabel(/code/i).first().inputValue()).toBe('PROP-1');
});
