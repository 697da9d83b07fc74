import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { liveAll } from '../lives/live.ts';
import { failuresOf, livesFrom } from '../lives/smallest.ts';
import { World } from '../lives/world.ts';
import { ConsoleBeside, ConsoleBrowser, looked } from './console-browser.ts';
import type { Watched } from './console-browser.ts';

const LIVES = 12;
const SEED = Number(process.env['SEED'] ?? 7);

let world: World;
let beside: ConsoleBeside;
let browser: ConsoleBrowser;
let desk: Watched;

jest.setTimeout(240_000);

beforeAll(async () => {
  world = await World.start();
  expect(await failuresOf(SEED, await liveAll(world, livesFrom(SEED, LIVES)))).toEqual([]);
  beside = await ConsoleBeside.open(world);
  browser = await ConsoleBrowser.launch();
  desk = await browser.enter(beside);
}, 240_000);
afterAll(async () => {
  await browser?.close();
  await beside?.close();
  await world?.close();
});

describe('Today', () => {
  test('shows what waits, by fund', async () => {
    const { page } = desk;
    await page.getByRole('heading', { level: 1, name: 'Today' }).waitFor();
    expect(await page.locator('#waiting tbody tr').count()).toBeGreaterThan(0);
    // A service inside a test holds no directory; a service of its own process is found in tests of the command line.
    await page.getByText(/^No service was found/).waitFor();
    await page.getByText('All that was recorded is in the reads and was published.').waitFor();
    await page.getByText(/^None of the \d+ endpoints is failing\.$/).waitFor();
    expect(await looked(page, 'today')).toEqual([]);
  });

  test('leads from a group to its worklist', async () => {
    const { page } = desk;
    const group = page.locator('#waiting tbody tr').first();
    const [operations] = await group.locator('td.number').allInnerTexts();
    await group.getByRole('link').click();
    await page.getByRole('heading', { level: 1, name: 'Decisions' }).waitFor();
    expect(await page.locator('tbody tr').count()).toBe(Number(operations));
    await page.getByRole('link', { name: 'Today' }).click();
  });

  test('speaks Portuguese where the browser does, and changes when it is asked to', async () => {
    const { page, complaints } = await browser.enter(beside, { locale: 'pt-BR' });
    await page.getByRole('heading', { level: 1, name: 'Hoje' }).waitFor();
    await page.getByRole('button', { name: 'English' }).click();
    await page.getByRole('heading', { level: 1, name: 'Today' }).waitFor();
    expect(complaints).toEqual([]);
  });
});

test('no page complains, or asks another host for anything', () => {
  expect(desk.complaints).toEqual([]);
});
