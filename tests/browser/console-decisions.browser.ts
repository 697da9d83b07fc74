import { describe, expect, test } from '@jest/globals';
import { loanStream } from '../../application/command-handling/operation.ts';
import { assignIn } from '../lives/assign-in.ts';
import type { TestApplication } from '../lives/world.ts';
import { loanRequest, smallPdf } from '../support/api-client.ts';
import { ConsoleBeside, atDesk, looked, send, shown } from './console-browser.ts';

const CODES = ['OP-1', 'OP-2', 'OP-3', 'OP-4'];

let application: TestApplication;
/** Address of what came of a decision. */
let result: string;

const assign = async (code: string): Promise<void> => {
  await assignIn(at.world, application, loanRequest(application.funds[0]!, code), smallPdf(code));
  expect((await loanOf(code)).status).toBe('received');
};
const loanOf = async (code: string) =>
  (await at.world.call(application, { method: 'GET', path: `/loan/${code}` })).body;
const statusesOf = async (codes: readonly string[]): Promise<readonly string[]> =>
  Promise.all(codes.map(async (code) => (await loanOf(code)).status));

/** Chooses these on the list, and then the decision. */
const choose = async (codes: readonly string[], decision: string): Promise<void> => {
  const { page } = at.desk;
  await page.getByRole('link', { name: 'Decisions' }).click();
  for (const code of codes) await page.getByLabel(`Choose ${code}`, { exact: true }).check();
  await page.getByRole('button', { name: decision }).click();
  await shown(page, `${decision}: check before you decide`);
};
const confirm = async (): Promise<string> => {
  const { page } = at.desk;
  await send(page, 'Confirm');
  return page.locator('main [role=status]').innerText();
};

const at = atDesk(async (world) => {
  application = await world.createApplication();
  for (const code of CODES) await assign(code);
});

describe('Decisions', () => {
  test('lists what waits, the longest first, and keeps to a filter', async () => {
    const { page } = at.desk;
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
    const { page } = at.desk;
    await choose(['OP-1', 'OP-2', 'OP-3'], 'Approve');
    expect(await page.getByText(/Approve: 3 operations, acquisition value R\$30,096\.00\./).count()).toBe(1);
    expect(await looked(page, 'decisions-preview')).toEqual([]);
    expect(await confirm()).toBe('3 done, 0 refused.');
    expect(await statusesOf(CODES)).toEqual(['approved', 'approved', 'approved', 'received']);
    const { eventStore: events } = at.world.parts;
    const stored = await events.read(loanStream(application.applicationId, 'OP-1'));
    expect(stored.events.at(-1)!.metadata.actor).toBe('administrator/maria.souza');
  });

  test('Back shows what was confirmed, which decides nothing twice, and the result can be loaded again', async () => {
    const { page } = at.desk;
    await page.reload();
    expect(await page.locator('main [role=status]').innerText()).toBe('3 done, 0 refused.');
    expect(await page.locator('tbody tr').first().innerText()).not.toContain('Was done already');
    await page.goBack();
    await shown(page, 'Approve: check before you decide');
    expect(await confirm()).toBe('3 done, 0 refused.');
    expect(await page.locator('tbody tr').first().innerText()).toContain('your own decision');
    result = page.url();
    expect(new URL(result).pathname).toMatch(/^\/kept\/[0-9a-f-]{36}$/);
    await page.goBack();
    await shown(page, 'Approve: check before you decide');
    await page.goBack();
    await shown(page, 'Decisions');
  });

  test('a result is shown in the language of now, and to no other session', async () => {
    const { page } = at.desk;
    await page.goto(result);
    await page.getByRole('button', { name: 'Português' }).click();
    await shown(page, 'Aprovar: resultado');
    const stranger = await at.enter();
    await stranger.page.goto(page.url());
    await stranger.page.getByText('This page is not kept any more.').waitFor();
    await stranger.page.context().close();
    await page.getByRole('button', { name: 'English' }).click();
    await shown(page, 'Approve: result');
  });

  test('a rejection without a whole reason keeps what was typed, in the language of the page', async () => {
    const { page } = at.desk;
    await choose(['OP-4'], 'Reject');
    await page.getByLabel('Code').first().fill('limite de concentração');
    await page.getByLabel('Message').first().fill('Demais');
    await page.getByLabel(/^Note/).fill('comitê');
    await send(page, 'Confirm');
    await page.getByText('This code has a space').waitFor();
    expect(await page.getByLabel('Code').first().getAttribute('aria-invalid')).toBe('true');
    expect(await looked(page, 'decisions-refused')).toEqual([]);
    await page.getByRole('button', { name: 'Português' }).click();
    await page.getByText('Este código tem um espaço').waitFor();
    expect(await page.getByLabel('Mensagem').first().inputValue()).toBe('Demais');
    expect(await page.getByLabel(/^Observação/).inputValue()).toBe('comitê');
    await page.getByRole('button', { name: 'English' }).click();
    await shown(page, /^Reject/);
    expect((await loanOf('OP-4')).status).toBe('received');
  });

  test('one is rejected with its reasons', async () => {
    const { page } = at.desk;
    await choose(['OP-4'], 'Reject');
    await page.getByLabel('Code').first().fill('concentration_limit');
    await page.getByLabel('Message').first().fill('Too much of one borrower <b>');
    expect(await confirm()).toBe('1 done, 0 refused.');
    expect((await loanOf('OP-4')).rejection_reasons).toEqual([
      { code: 'concentration_limit', message: 'Too much of one borrower <b>' },
    ]);
  });

  test('a decision that the rules refuse says why and changes nothing', async () => {
    const { page } = at.desk;
    await choose(['OP-1', 'OP-2', 'OP-3'], 'Sign term');
    await at.world.decide([
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
    const { page } = at.desk;
    await page.getByRole('link', { name: 'Decisions' }).click();
    const document = page.waitForResponse((response) => response.url().includes('/documents/'));
    await page.getByRole('link', { name: 'OP-1' }).click();
    expect((await document).headers()['content-type']).toBe('application/pdf');
    await page.getByText('*********25').waitFor();
    expect(await looked(page, 'decision')).toEqual([]);
    await page.getByRole('button', { name: 'Disburse' }).click();
    await page.getByLabel('Disbursed value of OP-1').fill('10.000,00');
    await send(page, 'Confirm');
    await page.getByText('The value of OP-1 has to be written like 1,234.56').waitFor();
    await page.getByLabel('Disbursed value of OP-1').fill('98,765.43');
    await page.locator('output', { hasText: /^R\$98,765\.43$/ }).waitFor();
    await page.getByLabel('Day of the disbursement').fill('2030-01-01');
    await send(page, 'Confirm');
    await page.getByText(/The value of OP-1 is more than 10% away .* R\$10,032\.00/).waitFor();
    await page.getByText(/not after tomorrow/).waitFor();
    expect(await looked(page, 'decisions-far-off')).toEqual([]);
    const again = page.getByLabel('Disbursed value of OP-1, once more');
    await page.getByLabel('Day of the disbursement').fill('2020-01-01');
    await again.fill('98,765.34');
    await send(page, 'Confirm');
    await page.getByText('The two values of OP-1 are not equal.').waitFor();
    await again.fill('98,765.43');
    await send(page, 'Confirm');
    await page.getByText('The day may not be before the issue').waitFor();
    await page.getByLabel('Day of the disbursement').fill(at.world.clock.today());
    expect(await confirm()).toBe('1 done, 0 refused.');
    await page.getByText(/Disbursed in all: R\$98,765\.43\./).waitFor();
    const { disbursement } = await loanOf('OP-1');
    expect(disbursement).toEqual({ value: 98765.43, date: at.world.clock.today() });
  });

  test('of two tabs that show the same operation, the later one is told who decided what', async () => {
    const { page } = at.desk;
    await assign('TABS');
    await choose(['TABS'], 'Reject');
    const other = await page.context().newPage();
    await other.goto(new URL('/decisions', page.url()).href);
    await other.getByLabel('Choose TABS', { exact: true }).check();
    await other.getByRole('button', { name: 'Approve' }).click();
    await send(other, 'Confirm');
    await other.getByText('1 done, 0 refused.').waitFor();
    await other.close();
    await page.getByLabel('Code').first().fill('late');
    await page.getByLabel('Message').first().fill('A second later');
    expect(await confirm()).toBe('0 done, 1 refused.');
    await page.getByText(/It changed .* Now: Approved\. Approved by maria\.souza at /).waitFor();
    await page.getByRole('button', { name: 'Português' }).click();
    await page.getByText(/Agora: Aprovada\. Aprovada por maria\.souza em /).waitFor();
    await page.getByRole('button', { name: 'English' }).click();
    expect((await loanOf('TABS')).status).toBe('approved');
    await choose(['TABS'], 'Reject');
    await page.getByLabel('Code').first().fill('late');
    await page.getByLabel('Message').first().fill('Seen as approved');
    expect(await confirm()).toBe('1 done, 0 refused.');
  });

  test('goes by the keyboard', async () => {
    const { page } = at.desk;
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
    const { page } = at.desk;
    await page.getByRole('link', { name: 'Decisions' }).click();
    await page.getByText('3 operations wait now.').waitFor();
    await assign('OP-7');
    await page.getByText('4 operations wait now.').waitFor();
  });

  test('an answer that comes late leaves what came since where it is', async () => {
    const { page } = at.desk;
    await page.getByRole('link', { name: 'Decisions' }).click();
    await shown(page, 'Decisions');
    await page.evaluate(`
      const list = document.querySelector('[data-follow]').outerHTML;
      const now = list.replace('</tbody>', '<tr><td><a data-listed="new">NEW</a></td></tr></tbody>');
      const { fetch } = window;
      window.answers = [];
      window.asked = 0;
      window.fetch = (address, ...more) => {
        if (!String(address).includes('/decisions/listed')) return fetch(address, ...more);
        const text = window.asked++ === 0 ? list : now;
        return new Promise((resolve) => window.answers.push(() => resolve({ ok: true, text: async () => text })));
      };
      for (const _ of [1, 2]) document.getElementById('live').dispatchEvent(new Event('changed'));
    `);
    // The newest of those that are under way comes first.
    for (let answer = 0; answer < 2; answer += 1) await page.evaluate('void window.answers.pop()()');
    await page.locator('[data-listed="new"]').waitFor();
    expect(await page.locator('tr.gone').count()).toBe(0);
  });
});

describe('for auditors', () => {
  test('nothing can be decided', async () => {
    const readOnly = await ConsoleBeside.open(at.world, { readOnly: true });
    try {
      const { page } = await at.browser.enter(readOnly);
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
  expect(at.desk.complaints.filter((text) => !text.includes('422'))).toEqual([]);
});
