import { expect, test } from '@jest/globals';
import type { Answer, TestApplication } from '../lives/world.ts';
import { loanRequest, multipart, smallPdf } from '../support/api-client.ts';
import { atDesk, barriers, shown } from './console-browser.ts';

/** What the originator has sent before the day begins. */
const ASSIGNED = ['DAY-1', 'DAY-2', 'DAY-3', 'DAY-4'];
const PAID_CENTS = '950,00';

let originator: TestApplication;

const send = (path: string, body: object): Promise<Answer> =>
  at.world.call(originator, { method: 'POST', path, body });
/** With every write that was answered before, which is in all reads then. */
const statusOf = async (code: string): Promise<string> =>
  (await at.world.call(originator, { method: 'GET', path: `/loan/${code}` })).body.status;

const at = atDesk(
  async (world) => {
    originator = await world.createApplication();
    for (const code of ASSIGNED) {
      const loan = loanRequest(originator.funds[0]!, code);
      const body = multipart('loan_data', loan, [{ name: 'ccb.pdf', content: smallPdf(code) }]);
      expect((await world.call(originator, { method: 'POST', path: '/loan', body })).status).toBe(201);
      expect(await statusOf(code)).toBe('received');
    }
  },
  { person: { locale: 'pt-BR' } },
);

const goTo = async (name: string): Promise<void> => {
  const { page } = at.desk;
  await page.getByRole('navigation').getByRole('link', { name, exact: true }).click();
  await shown(page, name);
};

/** Chooses on the worklist, decides, confirms, and reads what became of it. */
const decide = async (
  codes: readonly string[],
  decision: string,
  fill: () => Promise<void> = () => Promise.resolve(),
): Promise<void> => {
  const { page } = at.desk;
  await goTo('Decisões');
  for (const code of codes) await page.getByLabel(`Escolher ${code}`, { exact: true }).check();
  await page.getByRole('button', { name: decision }).click();
  await fill();
  await page.getByRole('button', { name: 'Confirmar' }).click();
  await page.getByText(`${codes.length} feitas, 0 recusadas.`).waitFor();
};

test('the morning: three are approved at once, one is rejected, the terms are signed', async () => {
  const { page } = at.desk;
  await page.getByRole('heading', { level: 1, name: 'Hoje' }).waitFor();
  await page.locator('#waiting').getByRole('link', { name: 'Aprovação' }).waitFor();
  await decide(['DAY-1', 'DAY-2', 'DAY-3'], 'Aprovar');
  await decide(['DAY-4'], 'Rejeitar', async () => {
    await page.getByLabel('Código').first().fill('limite_de_concentracao');
    await page.getByLabel('Mensagem').first().fill('O fundo já tem muito deste sacado');
  });
  await decide(['DAY-1', 'DAY-2', 'DAY-3'], 'Assinar termo');
  expect(await Promise.all(ASSIGNED.map(statusOf))).toEqual([
    ...['term_signed', 'term_signed', 'term_signed', 'rejected'],
  ]);
});

test('noon: the fund pays, one of them another value', async () => {
  const { page } = at.desk;
  await decide(['DAY-1', 'DAY-2', 'DAY-3'], 'Desembolsar', () =>
    page.getByLabel('Valor desembolsado de DAY-2').fill('9.999,99'),
  );
  const { body } = await at.world.call(originator, { method: 'GET', path: '/loan/DAY-2' });
  expect([body.status, body.disbursement.value]).toEqual(['active', 9999.99]);
});

test('the afternoon: a repurchase that the originator asks for is completed', async () => {
  const today = at.world.clock.today();
  const asked = await send('/loan/repurchase', {
    originator_proposal_code: 'DAY-3',
    reason: 'repurchase',
    effective_date: today,
    idempotency_key: 'day-3',
  });
  expect(asked.status).toBe(200);
  expect(await statusOf('DAY-3')).toBe('repurchase_pending');
  await decide(['DAY-3'], 'Concluir recompra');
  expect(await statusOf('DAY-3')).toBe('repurchased');
});

test("the evening: the custodian's statement is reconciled", async () => {
  const { page } = at.desk;
  const today = at.world.clock.today();
  const settled = await send('/installment/settle', {
    originator_proposal_code: 'DAY-1',
    installment_code: '001',
    settled_at: today,
    settled_value: 950,
    payment_method: 'pix',
    idempotency_key: 'day-1',
  });
  expect(settled.status).toBe(200);
  const day = today.split('-').reverse().join('/');
  const statement = `Data;Documento;Valor\n${day};DAY-1;${PAID_CENTS}\n${day};;12,34\n`;
  await goTo('Conciliação');
  const buffer = Buffer.from(statement);
  await page.locator('input[type=file]').setInputFiles({ name: 'extrato.csv', mimeType: 'text/csv', buffer });
  await page.getByRole('button', { name: 'Ler o arquivo' }).click();
  await page.getByLabel('Fundo').fill(originator.funds[0]!);
  await page.getByLabel('De', { exact: true }).fill(today);
  await page.getByLabel('Até', { exact: true }).fill(today);
  await page.getByRole('button', { name: 'Comparar' }).click();
  await page.getByText('O extrato e as notificações diferem.').waitFor();
  await page.waitForLoadState();
  const counts = await page.locator('.found table').first().locator('tbody tr').allInnerTexts();
  // The settlement matches; a line is nobody's; the repurchase is not in the statement.
  expect(counts.slice(0, 4).map((row) => row.split('\t').slice(0, 2))).toEqual([
    ['Conferem', '1'],
    ['Valores que diferem', '0'],
    ['Notificados que faltam no extrato', '1'],
    ['No extrato e nunca notificados', '1'],
  ]);
});

test('to the auditor: an operation is explained, with who decided and how a price came about', async () => {
  const { page } = at.desk;
  await goTo('Operações');
  await page.getByLabel('Parte do código').fill('DAY-3');
  await page.getByRole('button', { name: 'Procurar' }).click();
  await page.getByRole('link', { name: 'DAY-3' }).click();
  await shown(page, 'DAY-3');
  const told = await page.locator('.timeline').innerText();
  expect(told.match(/maria\.souza/g)!.length).toBeGreaterThanOrEqual(4);
  const reception = page.locator('.timeline > li').last();
  await reception.locator('summary').click();
  await reception.locator('tbody tr').first().waitFor();
  expect(await barriers(page)).toEqual([]);
});

test('nothing waits at the end of the day, and nothing was complained about', async () => {
  const { page, complaints } = at.desk;
  await goTo('Hoje');
  await page.getByText('Nada espera por uma decisão.').waitFor();
  expect(complaints).toEqual([]);
  expect(await at.world.audit()).toEqual([]);
});
