import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { SqlNotifiedPayments } from '../../application/reconciliation/reconciliation-reader.ts';
import type { NotifiedPayment } from '../../application/reconciliation/reconciliation-reader.ts';
import { liveAll } from '../lives/live.ts';
import { failuresOf, livesFrom } from '../lives/smallest.ts';
import { ConsoleBeside, atDesk, looked } from './console-browser.ts';
import type { Watched } from './console-browser.ts';

const LIVES = 12;
const SEED = Number(process.env['SEED'] ?? 7);

let fund: string;
let payments: readonly NotifiedPayment[];

/** Payments of the fund that has most of them. */
const mostPayments = async (funds: readonly string[]): Promise<void> => {
  const reader = new SqlNotifiedPayments(at.world.parts.readModelDatabase);
  payments = [];
  for (const fundId of funds) {
    const found: NotifiedPayment[] = [];
    const period = { fundId, from: '2026-01-01', to: '2026-12-31' } as Parameters<typeof reader.within>[0];
    for await (const page of reader.within(period)) found.push(...page);
    if (found.length > payments.length) [fund, payments] = [fundId, found];
  }
};

const at = atDesk(async (world) => {
  const living = await liveAll(world, livesFrom(SEED, LIVES));
  expect(await failuresOf(SEED, living)).toEqual([]);
  // It waits until the read models have taken in everything.
  expect(await world.audit()).toEqual([]);
  await mostPayments(living.flatMap(({ application }) => application.funds));
  expect(payments.length).toBeGreaterThan(3);
  await world.parts.funds.name({ fundId: fund, name: 'Fundo da Praia', operator: 'ana' });
});

const brazilian = (cents: number): string =>
  new Intl.NumberFormat('pt-BR', { minimumFractionDigits: 2 }).format(cents / 100);

/** As a bank in Brazil writes it: the first payment is missing, the second differs by a real, the last line is of nothing. */
const statement = (): string => {
  const [, second, ...others] = payments;
  const line = (one: NotifiedPayment, more = 0): string =>
    `${one.date.split('-').reverse().join('/')};PIX RECEBIDO;${one.event_id};${brazilian(one.amount + more)}`;
  return [
    'Banco Custodiante S.A.;Conta do FUNDO DA PRAIA;;',
    '',
    'Data;Histórico;Documento;Valor',
    line(second!, 100),
    ...others.map((one) => line(one)),
    '30/06/2026;TARIFA;;77.777,77',
    '',
  ].join('\n');
};

const send = async ({ page }: Watched, name: string, text: string | Buffer): Promise<void> => {
  await page.goto(new URL('/reconciliation', page.url()).href);
  const buffer = typeof text === 'string' ? Buffer.from(text) : text;
  await page.locator('input[type=file]').setInputFiles({ name, mimeType: 'text/csv', buffer });
  await page
    .locator('form', { has: page.locator('input[type=file]') })
    .locator('button')
    .click();
};

const compare = async ({ page }: Watched): Promise<void> => {
  await page.getByLabel('Fund').fill(fund);
  await page.getByLabel('From').fill('2026-01-01');
  await page.getByLabel('To', { exact: true }).fill('2026-12-31');
  await page.getByRole('button', { name: 'Compare' }).click();
};

describe('Reconciliation', () => {
  test('reads a statement as banks write it, and finds its columns', async () => {
    await send(at.desk, 'extrato.csv', statement());
    const { page } = at.desk;
    await page.getByRole('button', { name: 'Compare' }).waitFor();
    await page.waitForLoadState();
    const chosen = async (name: string): Promise<string> => page.locator(`select[name=${name}]`).inputValue();
    expect([
      await chosen('date_column'),
      await chosen('amount_column'),
      await chosen('reference_column'),
    ]).toEqual(['1', '4', '3']);
    const days = [...payments.slice(1).map(({ date }) => date), '2026-06-30'].toSorted();
    const typed = async (name: string) => page.locator(`input[name=${name}]`).first().inputValue();
    expect([await typed('from'), await typed('to')]).toEqual(
      [days[0]!, days.at(-1)!].map((day) => day.split('-').toReversed().join('/')),
    );
    expect(await typed('fund')).toBe('Fundo da Praia');
    expect(await looked(page, 'reconciliation-columns')).toEqual([]);
  });

  test('shows what matches, what differs and what is missing, and exports it', async () => {
    const { page } = at.desk;
    await compare(at.desk);
    await page.getByText('The statement and the notifications differ.').waitFor();
    await page.waitForLoadState();
    const rows = await page.locator('.found table').first().locator('tbody tr').allInnerTexts();
    const counts = rows.map((text) =>
      text
        .split('\t')
        .slice(0, 2)
        .map((cell) => cell.trim()),
    );
    expect(counts).toEqual(
      expect.arrayContaining([
        ['Matched', String(payments.length - 2)],
        ['Amounts that differ', '1'],
        ['Notified, and missing in the statement', '1'],
        ['In the statement, and never notified', '1'],
      ]),
    );
    await page.getByText('77,777.77').first().waitFor();
    const [{ code }] = payments as unknown as readonly [NotifiedPayment];
    const link = page.getByRole('link', { name: code, exact: true }).first();
    expect(await link.getAttribute('href')).toMatch(new RegExp(`^/operations[/?].*${code}`));
    expect(await looked(page, 'reconciliation-result')).toEqual([]);
    await page.reload();
    await page.getByText('77,777.77').first().waitFor();
    await page.getByRole('link', { name: 'Today' }).click();
    await page.getByRole('heading', { level: 1, name: 'Today' }).waitFor();
    await page.goBack();
    await page.getByText('The statement and the notifications differ.').waitFor();
    expect(await page.locator('input[name=from]').first().inputValue()).toBe('01/01/2026');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export as CSV' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('reconciliation-2026-01-01-2026-12-31.csv');
    const text = readFileSync(await download.path(), 'utf8');
    expect(text.match(/^missing_in_statement,/gm)).toHaveLength(1);
    expect(text.match(/^matched,/gm)).toHaveLength(payments.length - 2);
  });

  test('of a bad file says line and column, in the language of the person', async () => {
    const portuguese = await at.enter({ locale: 'pt-BR' });
    await send(portuguese, 'ruim.csv', statement().replace('77.777,77', 'nada'));
    const { page, complaints } = portuguese;
    await page.getByLabel('Fundo', { exact: true }).fill(fund);
    await page.getByRole('button', { name: 'Comparar' }).click();
    const line = 3 + payments.length;
    await page
      .getByText(`Linha ${line}, coluna 4: “nada” não é um valor escrito como se escolheu.`)
      .waitFor();
    expect(complaints.filter((one) => !one.includes('422'))).toEqual([]);
  });

  test('refuses a fund that nothing is known of, and a file that is too large', async () => {
    const { page } = at.desk;
    await send(at.desk, 'extrato.csv', statement());
    await page.getByLabel('Fund').fill('00000000-0000-4000-8000-000000000000');
    await page.getByRole('button', { name: 'Compare' }).click();
    await page.getByText('no application is linked to this one').waitFor();
    await send(at.desk, 'huge.csv', Buffer.alloc(17 * 1_048_576, 'a;b\n'));
    await page.getByText('larger than 16 MiB').waitFor();
  });

  test('also with --read-only, because it changes nothing', async () => {
    const reading = await ConsoleBeside.open(at.world, { readOnly: true });
    try {
      const auditor = await at.browser.enter(reading);
      await send(auditor, 'extrato.csv', statement());
      await compare(auditor);
      await auditor.page.getByText('The statement and the notifications differ.').waitFor();
    } finally {
      await reading.close();
    }
  });
});

test('no page complains, or asks another host for anything', () => {
  expect(at.desk.complaints.filter((one) => !/status of 4(13|22)/.test(one))).toEqual([]);
});
