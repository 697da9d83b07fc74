import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { World } from '../lives/world.ts';
import { looked, shown } from './console-browser.ts';
import { SignInDesk } from './sign-in-desk.ts';

jest.setTimeout(240_000);

let world: World;
let desk: SignInDesk;
beforeAll(async () => {
  world = await World.start();
  const people = {
    maria: { name: 'Maria Souza', roles: ['desk'] },
    joao: { name: 'João Lima', roles: [] },
  };
  desk = await SignInDesk.open(world, people, 'maker=desk');
}, 300_000);
afterAll(async () => {
  await desk?.close();
  await world?.stop();
});

test('a person signs in at the provider, is shown the page that was asked for, and signs out again', async () => {
  const { page, complaints } = await desk.enter();
  await shown(page, 'This is not possible');
  expect(await looked(page, 'sign-in')).toEqual([]);
  await page.goto(`${desk.origin}/operations?status=active`);
  await page.getByRole('link', { name: 'Sign in' }).click();
  await desk.goIn(page, 'maria');
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
  await page.waitForURL(`${desk.provider.issuer}/**`);
  await page.getByRole('button', { name: 'Go out' }).click();
  await shown(page, 'Signed out');
  await page.goto(`${desk.origin}/operations`);
  await shown(page, 'This is not possible');
  expect(complaints.filter((one) => !one.includes('401'))).toEqual([]);

  await page.getByRole('link', { name: 'Sign in' }).click();
  await page.getByLabel('Login').waitFor();
});

test('another site leads to a page of who is signed in', async () => {
  const { page } = await desk.enter();
  await page.getByRole('link', { name: 'Sign in' }).click();
  await desk.goIn(page, 'maria');
  await shown(page, 'Today');
  await page.goto(`${desk.provider.issuer}/nothing`);
  await page.evaluate(
    (to) => ((globalThis as { location?: { href: string } }).location!.href = to),
    `${desk.origin}/portfolio`,
  );
  await shown(page, 'Portfolio');
});

test('who has no role is told whom to ask', async () => {
  const { page } = await desk.enter();
  await page.getByRole('link', { name: 'Sign in' }).click();
  await desk.goIn(page, 'joao');
  await page.getByText('you have no role at this console').waitFor();
  expect(await page.getByRole('navigation').getByRole('link').count()).toBe(0);
  expect(await looked(page, 'no-role')).toEqual([]);
});

test('a form that was typed into outlives its session', async () => {
  const { page } = await desk.enter();
  await page.getByRole('link', { name: 'Sign in' }).click();
  await desk.goIn(page, 'maria');
  await page.goto(`${desk.origin}/operations`);
  await shown(page, 'Operations');
  await page.getByLabel(/code/i).first().fill('PROP-1');
  for (const { id } of await world.parts.desk.sessions.list()) await world.parts.desk.sessions.end(id);
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
