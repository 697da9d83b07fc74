import { describe, expect, test } from '@jest/globals';
import { speakingIn } from '../../infrastructure/console/language.ts';
import { PAGES } from '../../infrastructure/console/pages/all.ts';
import { decisionPath, operationPath, withQuery } from '../../infrastructure/console/paths.ts';
import { Living } from '../lives/live.ts';
import { livesFrom } from '../lives/smallest.ts';
import { DAYS_BEFORE } from '../lives/steps.ts';
import { loanRequest, smallPdf } from '../support/api-client.ts';
import { atDesk, looked, send } from './console-browser.ts';
import { assignIn } from '../lives/assign-in.ts';

const SEED = Number(process.env['SEED'] ?? 7);
const LIVES = 8;
const WAITING = ['OP-2026-000181', 'OP-2026-000182', 'OP-2026-000183'];

let living: readonly Living[];

/** Operations of all states, with payments, overdue installments, webhooks that arrive nowhere, and some that wait. */
const at = atDesk(async (world) => {
  const lives = livesFrom(SEED, LIVES);
  living = await Promise.all(lives.map(() => Living.begin(world)));
  const [first] = living;
  for (const { application } of living) {
    const body = { url: 'https://receiver.example/events', events: ['*'], description: 'Ledger' };
    await world.call(application, { method: 'POST', path: '/webhook', body });
  }
  for (const [i, days] of DAYS_BEFORE.entries()) {
    if (days > 0) {
      await world.pass(days);
      for (const one of living) one.model.dayTurns(world.now().today);
    }
    for (const [n, one] of living.entries()) await one.part(lives[n]!.parts[i] ?? []);
  }
  expect(living.flatMap(({ found }) => found)).toEqual([]);
  const { application } = first!;
  for (const code of WAITING) {
    await assignIn(world, application, loanRequest(application.funds[0]!, code), smallPdf(code));
  }
});

const busiest = () => {
  const told = living
    .flatMap(({ application: { applicationId }, model }) =>
      [...model.books.values()].map((book) => ({ ...book, applicationId })),
    )
    .filter(({ status }) => status === 'active');
  return told.toSorted((one, other) => other.told.length - one.told.length)[0]!;
};

/** Where each page shows most. */
const SHOWN: Readonly<Record<string, () => readonly (readonly [name: string, path: string])[]>> = {
  '/': () => [['today', '/']],
  '/decisions': () => {
    const { applicationId } = living[0]!.application;
    return [
      ['decisions', '/decisions'],
      ['decision', decisionPath({ applicationId, code: WAITING[0]! })],
    ];
  },
  '/operations': () => {
    const { applicationId, code } = busiest();
    return [
      ['operations', '/operations'],
      ['operation', operationPath(applicationId, code)],
    ];
  },
  '/portfolio': () => [['portfolio', withQuery('/portfolio', { fund: busiest().fund })]],
  '/webhooks': () => [['webhooks', '/webhooks']],
  '/reconciliation': () => [['reconciliation', '/reconciliation']],
  '/audit': () => [['audit', '/audit']],
  '/desk': () => [['desk', '/desk']],
  '/awaiting': () => [['awaiting', '/awaiting']],
  '/funds': () => [['funds', '/funds']],
};

/** What comes after the page itself, too. */
const open = async (path: string): Promise<void> => {
  const { page } = at.desk;
  await page.goto(new URL(path, page.url()).href);
  await page.waitForFunction(() => (globalThis as never as { htmx?: object }).htmx !== undefined);
  await page.waitForFunction(
    () =>
      (globalThis as never as { document: { querySelector(found: string): unknown } }).document.querySelector(
        '.htmx-request, [aria-busy=true]',
      ) === null,
  );
};

describe('every page, with data', () => {
  test.each(
    PAGES.filter(({ path }) => path !== '/kept').map(({ path, title }) => [speakingIn('en', title), path]),
  )('%s', async (_, path) => {
    for (const [name, address] of SHOWN[path]!()) {
      await open(address);
      expect([name, ...(await looked(at.desk.page, `every-${name}`))]).toEqual([name]);
    }
  });

  test('what is asked before it is decided', async () => {
    const { page } = at.desk;
    await open('/decisions');
    for (const code of WAITING) await page.getByLabel(`Choose ${code}`, { exact: true }).check();
    await send(page, 'Approve');
    expect(await looked(page, 'every-preview')).toEqual([]);
    await send(page, 'Confirm');
    expect(await looked(page, 'every-result')).toEqual([]);
  });

  test('a webhook, and what was sent', async () => {
    const { page } = at.desk;
    await open('/webhooks');
    await page.locator('#endpoints tbody a').first().click();
    await page.getByRole('heading', { name: 'Deliveries' }).waitFor();
    expect(await looked(page, 'every-webhook')).toEqual([]);
    await page.locator('tbody a').first().click();
    await page.getByRole('heading', { name: 'Body sent' }).waitFor();
    expect(await looked(page, 'every-delivery')).toEqual([]);
  });

  test('an address that leads nowhere', async () => {
    await at.desk.page.goto(new URL('/nowhere', at.desk.page.url()).href);
    expect(await looked(at.desk.page, 'every-nowhere')).toEqual([]);
  });
});

test('no page asks another host for anything', () => {
  expect(at.desk.complaints.filter((one) => !one.includes('404'))).toEqual([]);
});
