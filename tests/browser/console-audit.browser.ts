import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import type { Download } from 'playwright-core';
import { liveAll } from '../lives/live.ts';
import { failuresOf, livesFrom } from '../lives/smallest.ts';
import { ConsoleBeside, atDesk, looked } from './console-browser.ts';
import type { Watched } from './console-browser.ts';

type Json = ReturnType<typeof JSON.parse>;

const LIVES = 12;
const SEED = Number(process.env['SEED'] ?? 7);

let known: { readonly code: string; readonly application: string };

const at = atDesk(async (world) => {
  const living = await liveAll(world, livesFrom(SEED, LIVES));
  expect(await failuresOf(SEED, living)).toEqual([]);
  const one = living.find(({ model }) => model.books.size > 0)!;
  known = { code: [...one.model.books.values()][0]!.code, application: one.application.applicationId };
});

const downloaded = async ({ page }: Watched, button: string): Promise<{ name: string; text: string }> => {
  const [download]: [Download, unknown] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: button }).click(),
  ]);
  return { name: download.suggestedFilename(), text: readFileSync(await download.path(), 'utf8') };
};

const openAudit = async ({ page }: Watched): Promise<void> => {
  await page.getByRole('link', { name: 'Audit' }).click();
  await page.getByRole('heading', { name: 'Verify the log' }).waitFor();
};

const verify = async ({ page }: Watched, anchor?: string): Promise<void> => {
  await openAudit({ page, complaints: [] });
  if (anchor !== undefined)
    await page
      .locator('input[name=anchor]')
      .setInputFiles({ name: 'a.jsonl', mimeType: 'application/json', buffer: Buffer.from(anchor) });
  await page.getByRole('button', { name: 'Verify', exact: true }).click();
};

describe('Audit', () => {
  let anchor: string;

  test('verifies the whole log while the page follows it, and says that nothing differs', async () => {
    await verify(at.desk);
    const { page } = at.desk;
    await page.getByText('No difference.').waitFor();
    expect(await page.locator('#verification dl').innerText()).toMatch(/Events\s+[\d.]+/);
    expect(await looked(page, 'audit')).toEqual([]);
  });

  test('gives a signed anchor, with which the next verification compares', async () => {
    const sealed = await downloaded(at.desk, 'Seal now and download the anchor');
    expect(sealed.name).toMatch(/^anchor-.*\.jsonl$/);
    anchor = (await downloaded(at.desk, 'Download the anchor of this verification')).text;
    expect(anchor.split('\n').length).toBeGreaterThan(sealed.text.split('\n').length);
    await verify(at.desk, anchor);
    await at.desk.page.getByText('Compared with the anchor of').waitFor();
    await at.desk.page.getByText('No difference.').waitFor();
  });

  test('refuses an anchor that was changed', async () => {
    const watched = await at.enter();
    await verify(watched, anchor.replace(/"revision":\d+/, '"revision":999'));
    await watched.page
      .getByText(/anchor/)
      .first()
      .waitFor();
    await watched.page.getByRole('alert').waitFor();
    await watched.page.evaluate(() => (globalThis as Json).htmx.trigger('#live', 'changed'));
    expect(await watched.page.locator('#verification').innerText()).toContain('anchor');
  });

  test('explains an operation after a code that nobody knows', async () => {
    const watched = await at.enter();
    await openAudit(watched);
    const { page } = watched;
    await page.getByLabel('Code of the operation').fill('nobody knows it');
    await page.getByRole('button', { name: 'Explain' }).click();
    await page.locator('#explained').getByRole('alert').waitFor();
    await page.getByLabel('Code of the operation').fill(known.code);
    await page.locator('select[name=application]').selectOption(known.application);
    await page.getByRole('button', { name: 'Explain' }).click();
    await page
      .locator('#explained')
      .getByRole('heading', { name: `Operation ${known.code}` })
      .waitFor();
  });

  test('explains an operation in the words of the page', async () => {
    await openAudit(at.desk);
    const { page } = at.desk;
    await page.getByLabel('Code of the operation').fill(known.code);
    await page.locator('select[name=application]').selectOption(known.application);
    await page.getByRole('button', { name: 'Explain' }).click();
    const report = page.locator('#explained');
    await report.getByRole('heading', { name: `Operation ${known.code}` }).waitFor();
    expect(await report.innerText()).toMatch(
      /hash chain is whole[\s\S]*Operation received[\s\S]*loan\.received[\s\S]*acquisition value/,
    );
    await page.locator('h1').hover();
    expect(await looked(page, 'audit-explained')).toEqual([]);
    const { text } = await downloaded(at.desk, 'Download as JSON');
    expect(JSON.parse(text)).toMatchObject({ chain_broken_at: null, events: expect.any(Array) });
  });

  test('explains it in Portuguese, without a name of the interface', async () => {
    const { page, complaints } = await at.enter({ locale: 'pt-BR' });
    await page.goto(new URL('/audit', page.url()).href);
    await page.getByLabel('Código da operação').fill(known.code);
    await page.locator('select[name=application]').selectOption(known.application);
    await page.getByRole('button', { name: 'Explicar' }).click();
    const report = page.locator('#explained');
    await report.getByText('A cadeia de hashes está íntegra.').waitFor();
    const text = await report.innerText();
    expect(text).toMatch(/Operação recebida[\s\S]*Fator diário[\s\S]*Valor de aquisição/);
    expect(text).not.toMatch(/acquisition|face_value|date_issued|recorded|present value|installment_/);
    expect(complaints).toEqual([]);
  });

  test('also with --read-only, which seals nothing', async () => {
    const reading = await ConsoleBeside.open(at.world, { readOnly: true });
    try {
      const auditor = await at.browser.enter(reading);
      await verify(auditor);
      await auditor.page.getByText('No difference.').waitFor();
      expect(await auditor.page.getByRole('button', { name: 'Seal now' }).count()).toBe(0);
      await downloaded(auditor, 'Download the anchor of this verification');
    } finally {
      await reading.close();
    }
  });
});

test('no page complains, or asks another host for anything', () => {
  expect(at.desk.complaints).toEqual([]);
});
