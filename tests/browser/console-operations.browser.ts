import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { Living } from '../lives/live.ts';
import type { Book } from '../lives/model/book.ts';
import { livesFrom } from '../lives/smallest.ts';
import { DAYS_BEFORE } from '../lives/steps.ts';
import type { TestApplication } from '../lives/world.ts';
import { within } from '../support/within.ts';
import { borrowersOf, cells, distinct, tally } from './portfolio-expected.ts';
import { atDesk, looked, ticks } from './console-browser.ts';

const SEED = Number(process.env['SEED'] ?? 7);
const LIVES = 10;

let living: readonly Living[];

/** No receiver answers there: deliveries are tried and told, and never arrive. */
const subscribe = async (application: TestApplication): Promise<void> => {
  const body = { url: 'https://receiver.example/events', events: ['*'] };
  const answer = await at.world.call(application, { method: 'POST', path: '/webhook', body });
  expect(answer).toMatchObject({ status: 200, body: { url: body.url } });
};

const at = atDesk(async (world) => {
  const lives = livesFrom(SEED, LIVES);
  living = await Promise.all(lives.map(() => Living.begin(world)));
  for (const { application } of living) await subscribe(application);
  for (const [i, days] of DAYS_BEFORE.entries()) {
    if (days > 0) {
      await world.pass(days);
      for (const one of living) one.model.dayTurns(world.now().today);
    }
    for (const [n, one] of living.entries()) await one.part(lives[n]!.parts[i] ?? []);
  }
  expect(living.flatMap(({ found }) => found)).toEqual([]);
});

/** The operation of which most was told, among those that fit. */
const operationWith = (fits: (book: Book) => boolean): { readonly path: string; readonly book: Book } => {
  const found = living
    .flatMap(({ application, model }) =>
      [...model.books.values()].filter(fits).map((book) => ({ application, book })),
    )
    .toSorted((one, other) => other.book.told.length - one.book.told.length)
    .at(0);
  if (found === undefined) throw new Error(`no life of seed ${SEED} has such an operation`);
  const { application, book } = found;
  return { path: `/operations/${application.applicationId}/${book.code}`, book };
};

const open = async (path: string): Promise<void> => {
  const { page } = at.desk;
  await page.goto(new URL(path, page.url()).href);
};
/** chart.js draws it once the page is there: it sizes the canvas, which has 300 points by itself, to its place. */
const drawn = (picture: Locator): Promise<unknown> =>
  within('it is drawn', 60_000, async () => (await picture.evaluate(widthOf)) > 300);
const widthOf = ({ width }: { width: number }): number => width;
/** A renegotiation may have reserved the code before. */
const receptionOn = (page: Page): Locator =>
  page.locator('.timeline > li').filter({ hasText: 'Operation received' });
const paid = ({ parts }: Book): number =>
  parts.filter(({ status }) => status === 'settled' || status === 'prepaid').length;

describe('an operation', () => {
  test('shows its schedule as a picture and as a table, what happened, and what was sent', async () => {
    const { page } = at.desk;
    const { path, book } = operationWith((one) => paid(one) > 0 && one.parts.length > 2 && !one.forgotten);
    await open(path);
    await page.getByRole('heading', { level: 1, name: book.code }).waitFor();
    const rows = page.locator('section[aria-labelledby="schedule-title"] tbody tr');
    expect(await rows.count()).toBe(book.parts.length);
    const states = await rows.locator('.badge').allTextContents();
    expect(states.filter((one) => one === 'Paid' || one === 'Prepaid')).toHaveLength(paid(book));
    const picture = page.locator('canvas[data-picture]');
    await expect(picture.getAttribute('aria-label')).resolves.toContain(`${paid(book)} paid`);
    await drawn(picture);
    for (const tick of await ticks(page)) expect(tick).toMatch(/^R\$\d{1,3}(,\d{3})*(\.\d\d)?$/);
    expect(await page.locator('.timeline > li').count()).toBeGreaterThanOrEqual(book.told.length);
    const sent = page.locator('section[aria-labelledby="webhooks-title"] tbody tr');
    // Deliveries are queued in their own time, and this page does not follow.
    await within('a webhook of it', 60_000, async () => {
      if ((await sent.count()) > 0) return true;
      await page.reload();
      return false;
    });
    expect(await looked(page, 'operation')).toEqual([]);
  });

  test('tells marks of overdue installments that follow each other in one line, which opens', async () => {
    const { page } = at.desk;
    const { path } = operationWith(
      ({ status, parts }) =>
        status === 'active' && parts.filter((part) => part.status === 'overdue').length > 2,
    );
    await open(path);
    const group = page.locator('.timeline details.group').filter({ hasText: 'installments overdue' }).first();
    const [, said] = /(\d+) installments overdue/.exec(await group.locator('> summary').innerText())!;
    await group.locator('> summary').click();
    expect(await group.locator('.timeline > li').count()).toBe(Number(said));
    await group.getByText('Data and webhooks').first().click();
    await group.getByText('As it is recorded').waitFor();
    expect(await looked(page, 'operation-late')).toEqual([]);
  });

  test('explains a price line by line when it is opened', async () => {
    const { page } = at.desk;
    const { path } = operationWith((one) => paid(one) > 0);
    await open(path);
    const reception = receptionOn(page);
    await reception.locator('summary').click();
    await reception.getByText('How the value came about').waitFor();
    expect(await reception.locator('tbody tr').count()).toBeGreaterThan(0);
    expect(await reception.textContent()).toContain('add up to the acquisition value');
    expect(await looked(page, 'operation-price')).toEqual([]);
  });

  test('explains a price also to who opened it before the scripts of the page had come', async () => {
    const { page } = await at.enter();
    const opened = Promise.withResolvers<void>();
    await page.route('**/assets/htmx.js', async (route) => {
      await opened.promise;
      await route.continue();
    });
    const { path } = operationWith((one) => paid(one) > 0);
    await page.goto(new URL(path, page.url()).href, { waitUntil: 'commit' });
    const reception = receptionOn(page);
    await reception.locator('summary').click();
    await reception.getByText('Loading').waitFor();
    opened.resolve();
    await reception.getByText('How the value came about').waitFor();
    await page.unrouteAll({ behavior: 'wait' });
  });

  test('shows a past day, and what was not known yet', async () => {
    const { page } = at.desk;
    const { path } = operationWith((one) => paid(one) > 0);
    await open(path);
    const all = await page.locator('.timeline > li').count();
    await page.getByLabel('Position on').fill('2026-06-20');
    await page.getByRole('button', { name: 'Show' }).click();
    await page.getByRole('status').getByText('Position on 20/06/2026').waitFor();
    await page.waitForLoadState();
    const later = await page.locator('.timeline > li.left-out').count();
    expect(later).toBeGreaterThan(0);
    expect(await page.locator('.timeline > li').count()).toBe(all);

    await page.getByLabel('As it was known at').fill('2026-01-01T10:00:00');
    await page.getByRole('button', { name: 'Show' }).click();
    await page.getByText('the operation did not exist yet').waitFor();
    expect(await looked(page, 'operation-before')).toEqual([]);
    await page.getByRole('link', { name: 'Back to today' }).click();
    await page.locator('.timeline > li').first().waitFor();
    await page.waitForLoadState();
    expect(await page.locator('.timeline > li.left-out').count()).toBe(0);
  });

  test('gives out its documents', async () => {
    const { page } = at.desk;
    const { path, book } = operationWith((one) => !one.forgotten && one.papers.length > 0);
    await open(path);
    const link = page.locator('section[aria-labelledby="documents-title"] a').first();
    const { href, body } = await link.evaluate(async (a: { href: string }) => {
      const response = await fetch(a.href);
      return { href: a.href, body: (await response.arrayBuffer()).byteLength };
    });
    expect(href).toContain(path.replace('/operations/', '/documents/'));
    expect(book.papers.map(({ size }) => size)).toContain(body);
  });

  test('stands beside one of its documents, or two of them beside one another', async () => {
    const { page } = at.desk;
    const { path } = operationWith((one) => !one.forgotten && one.papers.length > 1);
    await open(path);
    await page.getByRole('link', { name: 'Show beside' }).first().click();
    await page.locator('iframe.document').waitFor();
    expect(await looked(page, 'operation-document')).toEqual([]);
    await page.getByRole('link', { name: 'Compare' }).first().click();
    await page.waitForURL(/document=.*document=/);
    expect(await page.locator('iframe.document').count()).toBe(2);
    expect(await looked(page, 'operation-documents')).toEqual([]);
    await page.getByRole('link', { name: 'Close' }).first().click();
    await page.getByRole('link', { name: 'Compare' }).first().waitFor();
    expect(await page.locator('iframe.document').count()).toBe(1);
  });

  test('that does not exist is said to, with what to do', async () => {
    const { page } = await at.enter({ locale: 'pt-BR' });
    const { origin } = new URL(page.url());
    for (const path of [`${randomUUID()}/NONE`, 'x/y', `${randomUUID()}/%20`]) {
      const response = await page.goto(`${origin}/operations/${path}`);
      expect(response?.status()).toBe(404);
      await page.getByRole('alert').getByText('Não há tal operação').waitFor();
    }
  });
});

/** What the life of a client expects to be found, newest or not. */
const books = (fits: (book: Book) => boolean = () => true): readonly Book[] =>
  living.flatMap(({ model }) => [...model.books.values()].filter(fits));

const listed = async (): Promise<readonly string[]> => {
  const { page } = at.desk;
  const codes: string[] = [];
  for (;;) {
    codes.push(...(await page.locator('tbody td:first-child').allInnerTexts()));
    const next = page.getByRole('link', { name: 'Next page' });
    if ((await next.count()) === 0) return codes;
    await next.click();
    await page.getByRole('link', { name: 'From the start' }).waitFor();
    await page.waitForLoadState();
  }
};

describe('the search of operations', () => {
  test('lists all of them, and finds by code, fund and state what lives expect', async () => {
    const { page } = at.desk;
    await open('/operations');
    expect(await looked(page, 'operations')).toEqual([]);
    expect(await listed()).toHaveLength(books().length);
    const { book } = operationWith((one) => !one.forgotten);
    await open('/operations');
    await page.getByLabel('Fund').selectOption(book.fund);
    await page.getByLabel('Status').selectOption(book.status);
    await page.getByLabel('Part of the code').fill('op');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.waitForURL(/code=op/);
    // The address alone is the search.
    expect(new URL(page.url()).search).toBe(`?code=op&fund=${book.fund}&status=${book.status}`);
    const expected = books(({ fund, status }) => fund === book.fund && status === book.status);
    expect((await listed()).toSorted()).toEqual(expected.map(({ code }) => code).toSorted());
  });

  test('finds who is late, with days and values, sorted by its columns', async () => {
    const { page } = at.desk;
    const overdue = (book: Book): number =>
      book.status === 'active' ? book.parts.filter(({ status }) => status === 'overdue').length : 0;
    const expected = books((book) => overdue(book) > 0);
    expect(expected.length).toBeGreaterThan(1);
    await open('/operations');
    await page.getByLabel('Lateness').selectOption('true');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.waitForURL(/overdue=true/);
    expect(await looked(page, 'operations-late')).toEqual([]);
    await page.getByRole('status').getByText(`${expected.length} operations.`).waitFor();
    expect((await listed()).toSorted()).toEqual(expected.map(({ code }) => code).toSorted());
    const days = async () => (await page.locator('tbody td:nth-child(4)').allInnerTexts()).map(Number);
    await open('/operations?overdue=true');
    const worstFirst = await days();
    expect(worstFirst).toEqual(worstFirst.toSorted((one, other) => other - one));
    await page.getByRole('link', { name: 'Days late' }).click();
    await page.waitForURL(/sort=days_late/);
    expect(await days()).toEqual(worstFirst.toReversed());
    await page.getByRole('link', { name: 'Overdue value' }).click();
    await page.waitForURL(/sort=-overdue_value/);
    expect(await page.locator('th[aria-sort]').innerText()).toContain('Overdue value');
    const csv = await page
      .getByRole('link', { name: 'Export CSV' })
      .evaluate(async (a: { href: string }) => (await fetch(a.href)).text());
    const codes = csv
      .trim()
      .split('\n')
      .slice(1)
      .map((line) => line.split(',')[1]);
    expect(codes).toEqual(await page.locator('tbody td:first-child').allInnerTexts());
    const portuguese = await at.enter({ locale: 'pt-BR' });
    await portuguese.page.goto(page.url());
    await portuguese.page.getByRole('status').getByText('Em atraso ao todo').waitFor();
    expect(await looked(portuguese.page, 'operations-late-pt')).toEqual([]);
  });

  test('by the borrower: the document is posted, found, masked, and stands in no address', async () => {
    const { page } = at.desk;
    const { document } = operationWith((one) => !one.forgotten).book.person;
    const addresses: string[] = [];
    page.on('request', (request) => addresses.push(request.url()));
    await open('/operations');
    await page.getByLabel('CPF or CNPJ').fill(document);
    await page.getByRole('button', { name: 'Search' }).click();
    await page.waitForURL(/search=/);
    const masked = `${'*'.repeat(document.length - 2)}${document.slice(-2)}`;
    expect(new Set(await page.locator('tbody td:nth-child(3)').allInnerTexts())).toEqual(new Set([masked]));
    const known = books(({ person, forgotten }) => person.document === document && !forgotten);
    expect(await listed()).toHaveLength(known.length);
    expect(addresses.filter((address) => address.includes(document))).toEqual([]);
    // Gone to an operation and back, the search is still there.
    await page.locator('tbody a').first().click();
    await page.getByRole('heading', { level: 1, name: 'Operation' }).waitFor();
    await page.goBack();
    expect(await page.getByLabel('CPF or CNPJ').inputValue()).toBe(document);
    // Another session knows nothing of it.
    const other = await at.enter();
    await other.page.goto(page.url());
    await other.page.getByRole('alert').getByText('not known any more').waitFor();
    expect(await other.page.content()).not.toContain(document);
  });

  test('says what it cannot search for, and exports what it found as CSV', async () => {
    // The browser itself remarks on a refusal.
    const { page } = await at.enter();
    await page.getByRole('link', { name: 'Operations' }).click();
    await page.getByLabel('CPF or CNPJ').fill('12345');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByRole('alert').getByText('CPF of 11 digits').waitFor();
    expect(await page.getByLabel('CPF or CNPJ').inputValue()).toBe('12345');
    expect(await page.getByLabel('CPF or CNPJ').getAttribute('aria-invalid')).toBe('true');
    expect(page.url()).not.toContain('12345');
    expect(await looked(page, 'operations-refused')).toEqual([]);
    const csv = await page.evaluate<string>(async () => (await fetch('/operations/export')).text());
    const [header, ...lines] = csv.trim().split('\n');
    expect(header).toContain('originator_proposal_code,fund_id,status');
    expect(lines).toHaveLength(books().length);
  });
});

describe('the portfolio', () => {
  test('shows what a fund holds as the command line counts it, with pictures, tables and another day', async () => {
    const { page } = at.desk;
    const held = books(({ status }) => ['active', 'repurchase_pending'].includes(status));
    const [open] = [...Map.groupBy(held, ({ fund }) => fund).values()].toSorted(
      (one, other) => distinct(other) - distinct(one) || other.length - one.length,
    );
    const [book] = open!;
    await page.getByRole('link', { name: 'Portfolio' }).click();
    await page.getByText('Choose a fund.').waitFor();
    await page.getByLabel('Fund').selectOption(book!.fund);
    await page.getByLabel('Against').fill('2026-06-20');
    await page.getByRole('button', { name: 'Show' }).click();
    await page.getByRole('heading', { name: 'Ageing' }).waitFor();
    const operations = page.locator('.tiles article').filter({ hasText: 'Operations held' }).locator('p');
    expect(Number(await operations.innerText())).toBe(open!.length);
    const rows = page.locator('section[aria-labelledby="concentration-title"] tbody tr');
    expect(await rows.count()).toBe(open!.length);
    expect((await cells(page, 'borrowers-title', [1, 2])).toSorted()).toEqual(borrowersOf(open!));
    expect((await cells(page, 'states-title', [0, 1])).toSorted()).toEqual(
      tally(open!.map(({ status }) => (status === 'active' ? 'Active' : 'Repurchase pending'))),
    );
    expect((await cells(page, 'products-title', [0, 1])).toSorted()).toEqual(
      tally(open!.map(({ product }) => product)),
    );
    for (const canvas of await page.locator('canvas[data-picture]').all()) await drawn(canvas);
    await page.getByText('since 20/06/2026').first().waitFor();
    expect(await looked(page, 'portfolio')).toEqual([]);
    const csv = await page
      .getByRole('link', { name: 'Export CSV' })
      .evaluate(async (a: { href: string }) => (await fetch(a.href)).text());
    expect(csv).toContain(`operations,,${open!.length},`);
    const composition = await page
      .getByRole('link', { name: 'Export composition' })
      .evaluate(async (a: { href: string }) => (await fetch(a.href)).text());
    const [header, ...lines] = composition.trim().split('\n');
    expect(header).toBe(
      'by,rank,name,operations,present_value,share,application_id,originator_proposal_code',
    );
    const exported = lines.map((line) => line.split(',')).filter(([by]) => by === 'borrower');
    expect(exported.map(([, , name, operations]) => `${name}: ${operations}`).toSorted()).toEqual(
      borrowersOf(open!).map((one) => one.replace('erased borrowers', 'unknown')),
    );
    for (const { person } of open!) expect(composition).not.toContain(person.document);
    // It opens with the fund of before.
    await page.getByRole('link', { name: 'Portfolio' }).click();
    await page.getByRole('heading', { name: 'Ageing' }).waitFor();
    expect(await page.getByLabel('Fund').inputValue()).toBe(book!.fund);
  });

  test('holds all funds together, and leads from a bucket to its operations', async () => {
    const { page } = at.desk;
    await open('/portfolio?fund=all');
    await page.getByRole('heading', { name: 'By fund' }).waitFor();
    const held = page.locator('.tiles article').filter({ hasText: 'Operations held' }).locator('p');
    const column = 'section[aria-labelledby="funds-title"] td:nth-child(2)';
    const byFund = await page.locator(column).allInnerTexts();
    expect(byFund.length).toBeGreaterThan(3);
    expect(Number(await held.innerText())).toBe(byFund.reduce((sum, one) => sum + Number(one), 0));
    for (const canvas of await page.locator('canvas[data-picture]').all()) await drawn(canvas);
    expect(await looked(page, 'portfolio-all')).toEqual([]);
    const active = page.locator('section[aria-labelledby="states-title"] tr', { hasText: 'Active' });
    const many = Number(await active.locator('td').nth(1).innerText());
    await active.getByRole('link', { name: 'Active' }).click();
    await page.getByRole('heading', { level: 1, name: 'Active' }).waitFor();
    expect(await page.locator('tbody tr').count()).toBe(many);
    expect(await looked(page, 'portfolio-operations')).toEqual([]);
  });
});

test('no page complains, or asks another host for anything', () => {
  expect(at.desk.complaints).toEqual([]);
});
