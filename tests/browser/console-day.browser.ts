import { readFile } from 'node:fs/promises';
import { describe, expect, test } from '@jest/globals';
import { words } from '../../infrastructure/console/pages/words.ts';
import { texts as decisionsTexts } from '../../infrastructure/console/pages/decisions/texts.ts';
import { texts as operationsTexts } from '../../infrastructure/console/pages/operations/texts.ts';
import { texts as portfolioTexts } from '../../infrastructure/console/pages/portfolio/texts.ts';
import { texts as reconciliationTexts } from '../../infrastructure/console/pages/reconciliation/texts.ts';
import { texts as todayTexts } from '../../infrastructure/console/pages/today/texts.ts';
import { LANGUAGES } from '../../infrastructure/console/language.ts';
import { assignIn } from '../lives/assign-in.ts';
import type { Answer, TestApplication } from '../lives/world.ts';
import { loanRequest, smallPdf } from '../support/api-client.ts';
import { spokenIn } from '../support/spoken-texts.ts';
import { atDesk, barriers, shown } from './console-browser.ts';

/** What the originator has sent before the day begins: the last one is one too many. */
const ASSIGNED = Array.from({ length: 20 }, (_, i) => `DAY-${String(i + 1).padStart(2, '0')}`);
const BOUGHT = ASSIGNED.slice(0, -1);
const REJECTED = ASSIGNED.at(-1)!;

const NAMES = {
  'pt-BR': {
    ...{ locale: 'pt-BR', today: 'Hoje', decisions: 'Decisões', reconciliation: 'Conciliação' },
    ...{ chosen: /^19 escolhidas · R\$\s190\.608,00/, rejection: 'Código', value: '9.999,99' },
    file: 'CSV para o Excel em português',
  },
  // Days of this browser begin with the month.
  en: {
    ...{ locale: 'en-US', today: 'Today', decisions: 'Decisions', reconciliation: 'Reconciliation' },
    ...{ chosen: /^19 chosen · R\$190,608\.00/, rejection: 'Code', value: '9,999.99' },
    file: 'CSV for Excel in Portuguese',
  },
} as const;

describe.each(LANGUAGES)('a day at the desk, in %s, by the console alone', (language) => {
  const names = NAMES[language];
  const decisions = spokenIn(language, decisionsTexts);
  let originator: TestApplication;

  const send = (path: string, body: object): Promise<Answer> =>
    at.world.call(originator, { method: 'POST', path, body });
  /** With every write that was answered before, which is in all reads then. */
  const statusOf = async (code: string): Promise<string> =>
    (await at.world.call(originator, { method: 'GET', path: `/loan/${code}` })).body.status;
  const statuses = async (codes: readonly string[]): Promise<readonly string[]> => [
    ...new Set(await Promise.all(codes.map(statusOf))),
  ];

  const at = atDesk(
    async (world) => {
      originator = await world.createApplication();
      for (const code of ASSIGNED) {
        await assignIn(world, originator, loanRequest(originator.funds[0]!, code), smallPdf(code));
      }
    },
    { person: { locale: names.locale } },
  );

  const goTo = async (name: string): Promise<void> => {
    const { page } = at.desk;
    await page.getByRole('navigation').getByRole('link', { name, exact: true }).click();
    await shown(page, name);
  };

  const confirm = async (decided: number): Promise<void> => {
    const { page } = at.desk;
    await page.getByRole('button', { name: decisions.confirm }).click();
    await page.getByText(spokenIn(language, words).resultOf(decided, 0)).waitFor();
  };

  /** All that are listed, but for what is left out. */
  const choose = async (leftOut: readonly string[] = []): Promise<void> => {
    const { page } = at.desk;
    await page.getByLabel(decisions.chooseAll).check();
    for (const code of leftOut) await page.getByLabel(decisions.chosen(code), { exact: true }).uncheck();
  };

  test('what is new stands on the first page, and leads to where it is decided', async () => {
    const { page } = at.desk;
    await shown(page, names.today);
    await page
      .locator('#waiting')
      .getByRole('link', { name: spokenIn(language, words).awaited.received })
      .click();
    await shown(page, names.decisions);
    await page.getByText(decisions.now('20')).waitFor();
  });

  test('twenty are decided: counted, added up, approved but for one, which is rejected for a reason', async () => {
    const { page } = at.desk;
    await choose([REJECTED]);
    expect((await page.locator('.tally').innerText()).trim()).toMatch(names.chosen);
    await page.getByRole('button', { name: decisions.decide.approve }).click();
    await confirm(BOUGHT.length);
    expect(await statuses(BOUGHT)).toEqual(['approved']);
    await page.getByRole('button', { name: decisions.next }).click();
    await shown(page, REJECTED);
    await page.getByText(decisions.same(19)).waitFor();
    await page.getByRole('button', { name: decisions.decide.reject }).click();
    await page.getByLabel(names.rejection).first().fill('limite_de_concentracao');
    await page.getByLabel(decisions.reasonMessage).first().fill('O fundo já tem muito deste sacado');
    await confirm(1);
    await page.getByText(decisions.nothingLeft).waitFor();
    expect(await statusOf(REJECTED)).toBe('rejected');
  });

  test('terms are signed and the fund pays, one of them another value; another desk is followed meanwhile', async () => {
    const { page } = at.desk;
    await goTo(names.decisions);
    const [first] = BOUGHT;
    await choose();
    await at.world.decide([
      {
        ...{ decision_id: 'elsewhere', decision: 'sign_term' },
        ...{ application_id: originator.applicationId, originator_proposal_code: first },
      },
    ]);
    await statusOf(first!);
    await page.locator('tr.gone', { hasText: first! }).waitFor();
    await page.getByText(decisions.lost('1')).waitFor();
    expect(await page.getByLabel(decisions.chosen('DAY-02'), { exact: true }).isChecked()).toBe(true);
    await page.getByRole('button', { name: decisions.decide.sign_term }).click();
    await confirm(BOUGHT.length - 1);
    await goTo(names.decisions);
    await choose();
    await page.getByRole('button', { name: decisions.decide.disburse }).click();
    await page.getByLabel(decisions.disbursedOf('DAY-02')).fill(names.value);
    await confirm(BOUGHT.length);
    const { body } = await at.world.call(originator, { method: 'GET', path: '/loan/DAY-02' });
    expect([body.status, body.disbursement.value]).toEqual(['active', 9999.99]);
  });

  test('a repurchase that the originator asks for is completed', async () => {
    const { page } = at.desk;
    const asked = await send('/loan/repurchase', {
      originator_proposal_code: 'DAY-03',
      reason: 'repurchase',
      effective_date: at.world.clock.today(),
      idempotency_key: 'day-3',
    });
    expect([asked.status, await statusOf('DAY-03')]).toEqual([200, 'repurchase_pending']);
    await goTo(names.decisions);
    await choose();
    await page.getByRole('button', { name: decisions.decide.process_repurchase }).click();
    await confirm(1);
    expect(await statusOf('DAY-03')).toBe('repurchased');
  });

  test('who is late is found', async () => {
    const { page } = at.desk;
    const texts = spokenIn(language, operationsTexts);
    await at.world.sweep();
    await statusOf('DAY-01');
    await goTo(texts.title);
    await page.getByLabel(texts.lateness).selectOption(texts.onlyLate);
    await page.getByRole('button', { name: texts.search }).click();
    await page.getByText(texts.counted('18', false, false)).waitFor();
  });

  test("the custodian's statement is reconciled", async () => {
    const { page } = at.desk;
    const texts = spokenIn(language, reconciliationTexts);
    const today = at.world.clock.today();
    const settled = await send('/installment/settle', {
      ...{ originator_proposal_code: 'DAY-01', installment_code: '001', settled_at: today },
      ...{ settled_value: 950, payment_method: 'pix', idempotency_key: 'day-1' },
    });
    expect([settled.status, await statusOf('DAY-01')]).toEqual([200, 'active']);
    const day = today.split('-').reverse().join('/');
    const buffer = Buffer.from(`Data;Documento;Valor\n${day};DAY-01;950,00\n${day};;12,34\n`);
    await goTo(names.reconciliation);
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'extrato.csv', mimeType: 'text/csv', buffer });
    await page.getByRole('button', { name: texts.read }).click();
    await page.getByLabel(spokenIn(language, words).fund, { exact: true }).fill(originator.funds[0]!);
    await page.getByLabel(texts.from, { exact: true }).fill(day);
    await page.getByLabel(texts.to, { exact: true }).fill(day);
    await page.getByRole('button', { name: texts.compare }).click();
    await page.getByText(texts.notClean).waitFor();
    await page.waitForLoadState();
    const counts = await page.locator('.found table').first().locator('tbody tr').allInnerTexts();
    // The settlement matches; a line is nobody's; the repurchase is not in the statement.
    expect(counts.slice(0, 4).map((row) => row.split('\t').slice(0, 2))).toEqual([
      [texts.kinds.matched, '1'],
      [texts.kinds.amount_differs, '0'],
      [texts.kinds.missing_in_statement, '1'],
      [texts.kinds.missing_in_notifications, '1'],
    ]);
  });

  test("the month's end: the fund on a day, as a file for the spreadsheet", async () => {
    const { page } = at.desk;
    const texts = spokenIn(language, portfolioTexts);
    const shared = spokenIn(language, words);
    await goTo(texts.title);
    await page.getByLabel(shared.fund).selectOption(originator.funds[0]!);
    await page.getByLabel(shared.positionOn).fill(at.world.clock.today().split('-').reverse().join('/'));
    await page.getByRole('button', { name: shared.show, exact: true }).click();
    await page.getByRole('button', { name: names.file }).click();
    await page.getByRole('button', { name: names.file, pressed: true }).waitFor();
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: shared.exportCsv, exact: true }).click();
    const text = await readFile(await (await download).path(), 'utf8');
    expect(text.slice(0, 60)).toMatch(/^\ufeffmeasure;days;count;face_value;present_value;amount\n/);
    expect(text).toMatch(/\nopen;;\d+;\d+,\d\d;\d+,\d\d;\n/);
  });

  test('to the auditor: an operation is explained, with who decided and how a price came about', async () => {
    const { page } = at.desk;
    const texts = spokenIn(language, operationsTexts);
    await goTo(texts.title);
    await page.getByLabel(texts.code).fill('DAY-03');
    await page.getByRole('button', { name: texts.search }).click();
    await page.getByRole('link', { name: 'DAY-03' }).click();
    await shown(page, 'DAY-03');
    const told = await page.locator('.timeline').first().innerText();
    expect(told.match(/maria\.souza/g)!.length).toBeGreaterThanOrEqual(4);
    const reception = page.locator('.timeline').first().locator('> li').last();
    await reception.locator('summary').click();
    await reception.locator('tbody tr').first().waitFor();
    expect(await barriers(page)).toEqual([]);
  });

  test('nothing waits at the end of the day, and nothing was complained about', async () => {
    const { page, complaints } = at.desk;
    await goTo(names.today);
    await page.getByText(spokenIn(language, todayTexts).nothing).waitFor();
    expect(complaints).toEqual([]);
    expect(await at.world.audit()).toEqual([]);
  });
});
