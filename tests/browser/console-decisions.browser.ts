import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { loanStream } from '../../application/command-handling/operation.ts';
import { TOKENS } from '../../infrastructure/composition/container.ts';
import { World } from '../lives/world.ts';
import type { TestApplication } from '../lives/world.ts';
import { loanRequest, multipart, smallPdf } from '../support/api-client.ts';
import { ConsoleBeside, ConsoleBrowser, looked, shown } from './console-browser.ts';
import type { Watched } from './console-browser.ts';

const CODES = ['OP-1', 'OP-2', 'OP-3', 'OP-4'];

let world: World;
let application: TestApplication;
let beside: ConsoleBeside;
let browser: ConsoleBrowser;
let desk: Watched;

jest.setTimeout(240_000);

const assign = async (code: string): Promise<void> => {
  const loan = loanRequest(application.funds[0]!, code);
  const body = multipart('loan_data', loan, [{ name: 'ccb.pdf', content: smallPdf(code) }]);
  const { status } = await world.call(application, { method: 'POST', path: '/loan', body });
  expect(status).toBe(201);
  // With every write that was answered before, which is in all reads then.
  expect((await loanOf(code)).status).toBe('received');
};
const loanOf = async (code: string) =>
  (await world.call(application, { method: 'GET', path: `/loan/${code}` })).body;
const statusesOf = async (codes: readonly string[]): Promise<readonly string[]> =>
  Promise.all(codes.map(async (code) => (await loanOf(code)).status));

/** Chooses these on the list, and then the decision. */
const choose = async (codes: readonly string[], decision: string): Promise<void> => {
  const { page } = desk;
  await page.getByRole('link', { name: 'Decisions' }).click();
  for (const code of codes) await page.getByLabel(`Choose ${code}`, { exact: true }).check();
  await page.getByRole('button', { name: decision }).click();
  await shown(page, `${decision}: check before you decide`);
};
const confirm = async (): Promise<string> => {
  const { page } = desk;
  await page.getByRole('button', { name: 'Confirm' }).click();
  return page.locator('main [role=status]').innerText();
};

beforeAll(async () => {
  world = await World.start();
  application = await world.createApplication();
  for (const code of CODES) await assign(code);
  beside = await ConsoleBeside.open(world);
  browser = await ConsoleBrowser.launch();
  desk = await browser.enter(beside);
}, 240_000);
afterAll(async () => {
  await browser?.close();
  await beside?.close();
  await world?.close();
});

describe('Decisions', () => {
  test('lists what waits, the longest first, and keeps to a filter', async () => {
    const { page } = desk;
    await page.getByRole('link', { name: 'Decisions' }).click();
    await page.getByText('4 operations wait now.').waitFor();
    await page.waitForLoadState();
    expect(await page.locator('tbody a').allInnerTexts()).toEqual(CODES);
    expect(await looked(page, 'decisions')).toEqual([]);
    await page.getByLabel('Waits for').selectOption('Disbursement');
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.getByText('Nothing waits for a decision here.').waitFor();
  });

  test('several are approved at once, after they were shown, in the name of the operator', async () => {
    const { page } = desk;
    await choose(['OP-1', 'OP-2', 'OP-3'], 'Approve');
    expect(await page.getByText(/Approve: 3 operations, acquisition value R\$\s30\.096,00\./).count()).toBe(
      1,
    );
    expect(await looked(page, 'decisions-preview')).toEqual([]);
    expect(await confirm()).toBe('3 done, 0 refused.');
    expect(await statusesOf(CODES)).toEqual(['approved', 'approved', 'approved', 'received']);
    const { events } = world.container.get(TOKENS.adapters);
    const stored = await events.read(loanStream(application.applicationId, 'OP-1'));
    expect(stored.events.at(-1)!.metadata.actor).toBe('administrator/maria.souza');
  });

  test('a form that is sent twice decides once', async () => {
    const { page } = desk;
    await page.reload();
    expect(await page.locator('main [role=status]').innerText()).toBe('3 done, 0 refused.');
    expect(await page.locator('tbody tr').first().innerText()).toContain('Was done already');
  });

  test('one is rejected with its reasons', async () => {
    const { page } = desk;
    await choose(['OP-4'], 'Reject');
    await page.getByLabel('Code').first().fill('concentration_limit');
    await page.getByLabel('Message').first().fill('Too much of one borrower <b>');
    expect(await confirm()).toBe('1 done, 0 refused.');
    expect((await loanOf('OP-4')).rejection_reasons).toEqual([
      { code: 'concentration_limit', message: 'Too much of one borrower <b>' },
    ]);
  });

  test('a decision that the rules refuse says why and changes nothing', async () => {
    const { page } = desk;
    await choose(['OP-1', 'OP-2', 'OP-3'], 'Sign term');
    await world.decide([
      {
        decision_id: 'elsewhere',
        application_id: application.applicationId,
        originator_proposal_code: 'OP-3',
        decision: 'reject',
        reasons: [{ code: 'late', message: 'Decided elsewhere meanwhile' }],
      },
    ]);
    expect(await confirm()).toBe('2 done, 1 refused.');
    await page.locator('tbody tr', { hasText: 'OP-3' }).getByText('Refused').waitFor();
    expect(await statusesOf(['OP-1', 'OP-2', 'OP-3'])).toEqual(['term_signed', 'term_signed', 'rejected']);
  });

  test('shows the documents beside the operation, and disburses it with another value', async () => {
    const { page } = desk;
    await page.getByRole('link', { name: 'Decisions' }).click();
    const document = page.waitForResponse((response) => response.url().includes('/documents/'));
    await page.getByRole('link', { name: 'OP-1' }).click();
    expect((await document).headers()['content-type']).toBe('application/pdf');
    await page.getByText('*********25').waitFor();
    expect(await looked(page, 'decision')).toEqual([]);
    await page.getByRole('button', { name: 'Disburse' }).click();
    await page.getByLabel('Disbursed value of OP-1').fill('10,000.00');
    await page.getByRole('button', { name: 'Confirm' }).click();
    await page.getByText('The value of OP-1 has to be written like 1.234,56.').waitFor();
    await page.getByLabel('Disbursed value of OP-1').fill('9.876,54');
    expect(await confirm()).toBe('1 done, 0 refused.');
    const { disbursement } = await loanOf('OP-1');
    expect(disbursement).toEqual({ value: 9876.54, date: world.clock.today() });
  });

  test('goes by the keyboard', async () => {
    const { page } = desk;
    for (const code of ['OP-5', 'OP-6']) await assign(code);
    await page.getByRole('link', { name: 'Decisions' }).click();
    await page.locator('tbody tr', { hasText: 'OP-6' }).waitFor();
    // Keys are heard once the scripts have run.
    await page.waitForLoadState('load');
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('Space');
    await page.keyboard.press('a');
    await shown(page, /^Approve/);
    expect(await page.locator('tbody a').allInnerTexts()).toEqual(['OP-5']);
  });

  test('the number of those that wait follows what happens', async () => {
    const { page } = desk;
    await page.getByRole('link', { name: 'Decisions' }).click();
    await page.getByText('3 operations wait now.').waitFor();
    await assign('OP-7');
    await page.getByText('4 operations wait now.').waitFor();
  });
});

describe('for auditors', () => {
  test('nothing can be decided', async () => {
    const readOnly = await ConsoleBeside.open(world, { readOnly: true });
    try {
      const { page } = await browser.enter(readOnly);
      await page.getByText('Read only').waitFor();
      await page.getByRole('link', { name: 'Decisions' }).click();
      expect(await page.getByRole('button', { name: 'Approve' }).isDisabled()).toBe(true);
    } finally {
      await readOnly.close();
    }
  });
});

test('no page complains, or asks another host for anything', () => {
  // The wrongly written value is answered with 422, which the browser reports.
  expect(desk.complaints.filter((text) => !text.includes('422'))).toEqual([]);
});
