import { expect, test } from '@jest/globals';
import { liveAll } from '../lives/live.ts';
import { failuresOf, livesFrom } from '../lives/smallest.ts';
import { atDesk, looked, send, shown } from './console-browser.ts';

const SEED = Number(process.env['SEED'] ?? 7);

const at = atDesk(async (world) => {
  expect(await failuresOf(SEED, await liveAll(world, livesFrom(SEED, 3)))).toEqual([]);
});

test('a fund is named where it stands, a name that is taken is refused beside it, and both are in the desk log', async () => {
  const { page, complaints } = at.desk;
  await shown(page, 'Today');
  await page.getByRole('link', { name: 'Funds', exact: true }).click();
  await shown(page, 'Funds');
  const names = page.getByRole('textbox');
  const button = page.getByRole('button', { name: 'Name it' });
  await names.first().fill('Aurora');
  await Promise.all([page.waitForEvent('load'), button.first().click()]);
  await shown(page, 'Funds');
  expect(await names.first().inputValue()).toBe('Aurora');
  await names.nth(1).fill('AURORA');
  const refused = page.waitForResponse((answer) => answer.status() === 422);
  await Promise.all([refused, button.nth(1).click()]);
  await page.getByRole('alert').filter({ hasText: 'Another fund has this name already' }).waitFor();
  expect(await names.nth(1).inputValue()).toBe('AURORA');
  // The browser itself complains of the answer 422.
  expect(complaints.filter((one) => !one.includes('422'))).toEqual([]);
  await page.goto(new URL('/funds', page.url()).href);
  await shown(page, 'Funds');
  expect(await looked(page, 'funds')).toEqual([]);
  await page.getByRole('link', { name: 'Desk log' }).click();
  await shown(page, 'Desk log');
  const rows = page.getByRole('row');
  await rows.filter({ hasText: 'configured' }).filter({ hasText: 'Aurora' }).first().waitFor();
  await rows.filter({ hasText: 'fund_not_allowed' }).first().waitFor();
  await rows.filter({ hasText: 'signed in' }).first().waitFor();
  expect(await looked(page, 'desk')).toEqual([]);
  await page.getByLabel('Code of the operation').fill('NOTHING');
  await send(page, 'Filter');
  await page.getByText('Nothing is recorded.').waitFor();
});
