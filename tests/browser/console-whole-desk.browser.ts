import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { loanStream } from '../../application/command-handling/operation.ts';
import { SqlNotifiedPayments } from '../../application/reconciliation/reconciliation-reader.ts';
import type { NotifiedPayment } from '../../application/reconciliation/reconciliation-reader.ts';
import { loanDecider } from '../../domain/loan/index.ts';
import { assignIn } from '../lives/assign-in.ts';
import { World } from '../lives/world.ts';
import type { TestApplication } from '../lives/world.ts';
import { loanRequest, settlement, smallPdf } from '../support/api-client.ts';
import { commandLineBeside } from '../support/command-line-beside.ts';
import { send, shown } from './console-browser.ts';
import { SignInDesk } from './sign-in-desk.ts';

jest.setTimeout(600_000);

const OF_A_FUND = 100;
const REJECTED = 10;
const REPURCHASED = 10;
const SETTLED = 20;
const PAGE_SIZE = 50;
/** Of each operation, in cents: what `loanRequest` offers for two installments. */
const VALUE = 167_200;

const DECISIONS = {
  approve: { button: 'Approve', from: 'received' },
  reject: { button: 'Reject', from: 'received' },
  sign_term: { button: 'Sign term', from: 'approved' },
  disburse: { button: 'Disburse', from: 'term_signed' },
  process_repurchase: { button: 'Complete repurchase', from: 'repurchase_pending' },
} as const;
type Decision = keyof typeof DECISIONS;

interface Fund {
  readonly name: string;
  readonly id: string;
  readonly application: TestApplication;
  /** What it asks two people for. */
  readonly covered: readonly Decision[];
  readonly codes: readonly string[];
}

let world: World;
let desk: SignInDesk;
let command: ReturnType<typeof commandLineBeside>;
let funds: readonly Fund[];
let people: Readonly<Record<'ana' | 'rui', Page>>;

/** A line as it is compared: without when, of which stream, and under which id. */
type Line = Readonly<Record<string, string | number>>;
const expected: Line[] = [];
const COMPARED = [
  ...['way', 'subject', 'name', 'action', 'outcome', 'reason', 'originator_proposal_code', 'fund_id'],
  ...['decision', 'count', 'sum'],
];

const PEOPLE = {
  ana: { name: 'Ana Prado', roles: ['maker', 'checker'] },
  rui: { name: 'Rui Castro', roles: ['checker'] },
  leo: { name: 'Leo Nunes', roles: ['auditor'] },
};
type Login = keyof typeof PEOPLE;

const saw = (login: Login, line: Line): void => {
  expected.push({
    ...{ way: 'console', subject: login, name: PEOPLE[login].name, outcome: 'done' },
    ...line,
  });
  // What follows is later, whoever does it.
  world.clock.advance(1);
};

beforeAll(async () => {
  world = await World.start();
  command = commandLineBeside(world.environment, world.clock);
  const [first, other] = [await world.createApplication(), await world.createApplication()];
  const codes = (letter: string): readonly string[] =>
    Array.from({ length: OF_A_FUND }, (_, i) => `${letter}-${String(i + 1).padStart(3, '0')}`);
  const everything = ['approve', 'reject', 'disburse', 'process_repurchase'] as const;
  funds = [
    {
      ...{ name: 'Aurora', id: first.funds[0]!, application: first },
      ...{ covered: everything, codes: codes('AUR') },
    },
    {
      ...{
        name: 'Brisa',
        id: first.funds[1]!,
        application: first,
        covered: ['approve', 'process_repurchase'],
      },
      codes: codes('BRI'),
    },
    {
      ...{ name: 'Cais', id: other.funds[0]!, application: other, covered: ['sign_term'] },
      codes: codes('CAI'),
    },
  ];
  desk = await SignInDesk.open(world, PEOPLE, 'viewer=viewer,maker=maker,checker=checker,auditor=auditor');
}, 300_000);
afterAll(async () => {
  await desk?.close();
  await world?.stop();
});

const inParts = <Item>(all: readonly Item[], size: number): readonly (readonly Item[])[] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, i) => all.slice(i * size, (i + 1) * size));

const assign = async ({ application, id, codes }: Fund): Promise<void> => {
  for (const part of inParts(codes, 10))
    await Promise.all(
      part.map((code) => assignIn(world, application, loanRequest(id, code, 2), smallPdf(code))),
    );
};

/** Reads show everything that was written before. */
const readable = async ({ application }: Pick<Fund, 'application'>, code: string): Promise<string> =>
  (await world.call(application, { method: 'GET', path: `/loan/${code}` })).body.status;

const enterAs = async (login: Login): Promise<Page> => {
  const { page } = await desk.enter();
  await page.getByRole('link', { name: 'Sign in' }).click();
  await desk.goIn(page, login);
  await shown(page, 'Today');
  saw(login, { action: 'signed_in' });
  return page;
};

/** Decides on these, which are the first that wait, on one page. */
const decide = async (
  ana: Page,
  { id, covered }: Fund,
  decision: Decision,
  codes: readonly string[],
): Promise<void> => {
  const { button, from } = DECISIONS[decision];
  await ana.goto(`${desk.origin}/decisions?fund=${id}&status=${from}`);
  await shown(ana, 'Decisions');
  const listed = await ana.locator('tbody tr').count();
  saw('ana', { action: 'listed', count: listed, fund_id: id });
  if (listed === codes.length) await ana.getByLabel('Choose all of this page').check();
  else for (const code of codes) await ana.getByLabel(`Choose ${code}`, { exact: true }).check();
  await ana.getByRole('button', { name: button, exact: true }).click();
  await shown(ana, `${button}: check before you decide`);
  saw('ana', { action: 'listed', count: codes.length });
  if (decision === 'reject') {
    await ana.getByLabel('Code').first().fill('concentration_limit');
    await ana.getByLabel('Message').first().fill('Too much of one originator');
  }
  await send(ana, 'Confirm');
  await shown(ana, `${button}: result`);
  const awaits = covered.includes(decision);
  await ana
    .getByText(
      awaits
        ? `${codes.length} ${codes.length === 1 ? 'awaits' : 'await'} the confirmation of another person.`
        : `${codes.length} done, 0 refused.`,
    )
    .waitFor();
  for (const code of codes)
    saw('ana', {
      ...{ action: 'decided', outcome: awaits ? 'awaiting_confirmation' : 'applied', decision, fund_id: id },
      originator_proposal_code: code,
      ...(decision === 'disburse' && { sum: VALUE / 100 }),
    });
};

/** Settles all that awaits in a fund. */
const settle = async (
  [login, page]: readonly [Login, Page],
  { id }: Fund,
  {
    second,
    codes,
    sum,
    refused,
  }: {
    readonly second: 'confirm' | 'withdraw';
    readonly codes: readonly string[];
    readonly sum: number;
    readonly refused?: string;
  },
): Promise<void> => {
  await page.goto(`${desk.origin}/awaiting?fund=${id}`);
  await shown(page, 'Awaiting another person');
  saw(login, { action: 'listed', decision: 'awaiting', count: codes.length, sum: sum / 100, fund_id: id });
  await page.getByLabel('Choose all').check();
  await send(page, second === 'confirm' ? 'Confirm' : 'Withdraw');
  const [done, not] = refused === undefined ? [codes.length, 0] : [0, codes.length];
  await page.getByText(`${done} done, ${not} refused.`).waitFor();
  const line =
    refused === undefined
      ? { action: second === 'confirm' ? 'confirmed' : 'withdrawn', outcome: 'applied' }
      : { action: 'refused', outcome: 'refused', reason: refused };
  for (const code of codes)
    saw(login, { ...line, decision: second, originator_proposal_code: code, fund_id: id });
};

/** By as many people as the fund asks for. */
const decided = async (
  fund: Fund,
  decision: Decision,
  codes: readonly string[],
  sum = codes.length * VALUE,
): Promise<void> => {
  for (const part of inParts(codes, PAGE_SIZE)) {
    await decide(people.ana, fund, decision, part);
    if (fund.covered.includes(decision))
      await settle(['rui', people.rui], fund, {
        ...{ second: 'confirm', codes: part },
        sum: (sum / codes.length) * part.length,
      });
  }
};

const paymentsOf = async (fundId: string): Promise<readonly NotifiedPayment[]> => {
  const reader = new SqlNotifiedPayments(world.parts.readModelDatabase);
  const found: NotifiedPayment[] = [];
  const period = { fundId, from: '2026-01-01', to: '2026-12-31' } as Parameters<typeof reader.within>[0];
  for await (const page of reader.within(period)) found.push(...page);
  return found;
};

/** The custodian's statement has all payments but the first. */
const reconcile = async (ana: Page, { id }: Fund): Promise<void> => {
  const [, ...payments] = await paymentsOf(id);
  const lines = payments.map(
    ({ date, event_id: event, amount }) => `${date},${event},${(amount / 100).toFixed(2)}`,
  );
  const buffer = Buffer.from(['date,reference,amount', ...lines, ''].join('\n'));
  await ana.goto(`${desk.origin}/reconciliation`);
  await ana
    .locator('input[type=file]')
    .setInputFiles({ name: 'statement.csv', mimeType: 'text/csv', buffer });
  await ana
    .locator('form', { has: ana.locator('input[type=file]') })
    .locator('button')
    .click();
  await ana.getByLabel('Fund').fill(id);
  await ana.getByLabel('From').fill('2026-01-01');
  await ana.getByLabel('To', { exact: true }).fill('2026-12-31');
  await ana.getByRole('button', { name: 'Compare' }).click();
  await ana.getByText('The statement and the notifications differ.').waitFor();
  const sum = payments.reduce((all, { amount }) => all + amount, 0) / 100;
  const line = { action: 'viewed', decision: 'reconcile', fund_id: id, count: payments.length, sum };
  // What was asked for, and the page that shows it.
  saw('ana', line);
  saw('ana', line);
};

const post = async ({ application }: Fund, path: string, body: object): Promise<void> => {
  const { status, body: answer } = await world.call(application, { method: 'POST', path, body });
  expect([answer, status]).toEqual([answer, 200]);
};

const logged = async (): Promise<readonly Line[]> => {
  const { code, lines } = await command('desk', 'log', '-o', 'json');
  expect(code).toBe(0);
  return lines.map((line) =>
    Object.fromEntries(
      COMPARED.flatMap((name) => (line[name] === null ? [] : [[name, line[name] as string | number]])),
    ),
  );
};

/** Pages that name nothing, such as Today and what it fetches by itself. */
const isBare = ({ action, fund_id: fund, originator_proposal_code: code, decision }: Line): boolean =>
  action === 'viewed' && fund === undefined && code === undefined && decision === undefined;

/** The page of an operation fetches what else there is to know, in an order of its own beside the document. */
const isFurtherPart = ({ action, originator_proposal_code: code, subject }: Line, before?: Line): boolean =>
  action === 'viewed' &&
  code !== undefined &&
  before?.['originator_proposal_code'] === code &&
  before['subject'] === subject;

test('two people and an auditor take 300 operations of three funds through their lives, and the log tells who did what', async () => {
  const stated = { way: 'command_line', name: 'Root', outcome: 'done' };
  for (const { id, name, covered } of funds) {
    const rule = covered.flatMap((decision) => ['--decision', `${decision}:0`]);
    const operator = ['--operator', 'Root'];
    expect((await command('fund', 'name', '--fund', id, name, ...operator)).code).toBe(0);
    expect((await command('fund', 'four-eyes', '--fund', name, ...rule, ...operator)).code).toBe(0);
    expected.push({ ...stated, action: 'configured', decision: 'name_fund', fund_id: id });
    expected.push({
      ...{ ...stated, outcome: 'applied' },
      ...{ action: 'configured', decision: 'four_eyes', fund_id: id },
    });
    world.clock.advance(1);
  }
  // What was decided right beside a rule may have been decided without it.
  world.clock.advance(10_000);
  for (const fund of funds) await assign(fund);

  people = { ana: await enterAs('ana'), rui: await enterAs('rui') };
  for (const fund of funds) {
    const { codes } = fund;
    const [turnedDown, bought] = [codes.slice(0, REJECTED), codes.slice(REJECTED)];
    if (fund.covered.includes('reject')) {
      // Whose own decision it is; then it is taken back, and made anew.
      await decide(people.ana, fund, 'reject', turnedDown);
      const all = { codes: turnedDown, sum: REJECTED * VALUE };
      await settle(['ana', people.ana], fund, { ...all, second: 'confirm', refused: 'own_decision' });
      await settle(['rui', people.rui], fund, { ...all, second: 'withdraw' });
    }
    await decided(fund, 'reject', turnedDown);
    await decided(fund, 'approve', bought);
    await decided(fund, 'sign_term', bought);
    await decided(fund, 'disburse', bought);
    for (const code of bought.slice(0, SETTLED))
      await post(fund, '/installment/settle', settlement(code, '001', 950));
    const back = bought.slice(-REPURCHASED);
    let sum = 0;
    for (const code of back) {
      const { body } = await world.call(fund.application, {
        method: 'POST',
        path: '/loan/repurchase',
        body: {
          ...{ originator_proposal_code: code, reason: 'repurchase', effective_date: '2026-06-20' },
          idempotency_key: `back-${code}`,
        },
      });
      sum += Math.round(body.repurchase_value * 100);
    }
    await readable(fund, back.at(-1)!);
    await decided(fund, 'process_repurchase', back, sum);
    await reconcile(people.ana, fund);
    expect(await Promise.all([turnedDown, bought, back].map((of) => readable(fund, of[0]!)))).toEqual([
      'rejected',
      'active',
      'repurchased',
    ]);
  }

  const [{ application, codes, id }] = funds as readonly [Fund];
  const place = `${application.applicationId}/${codes[0]}`;
  const document = people.rui.waitForResponse((answer) => answer.url().includes('/documents/'));
  await people.rui.goto(`${desk.origin}/decisions/${place}`);
  await document;
  const operation = { originator_proposal_code: codes[0]!, fund_id: id };
  saw('rui', { action: 'viewed', ...operation });
  saw('rui', { action: 'downloaded', ...operation });

  const leo = await enterAs('leo');
  await leo.goto(`${desk.origin}/operations/${place}`);
  await shown(leo, codes[0]!);
  saw('leo', { action: 'viewed', ...operation });
  await leo.goto(`${desk.origin}/desk?fund=${id}`);
  await shown(leo, 'Desk log');
  saw('leo', { action: 'listed', decision: 'desk_log', count: 100, fund_id: id });
  await leo.goto(`${desk.origin}/reconciliation`);
  await leo.getByText('Your role does not allow this.').waitFor();
  saw('leo', { action: 'refused', outcome: 'refused', reason: 'forbidden' });

  const lines = await logged();
  expect(lines.filter((line, at) => !isBare(line) && !isFurtherPart(line, lines[at - 1]))).toEqual(expected);
  expect(await world.audit()).toEqual([]);
});

test('a decision that was planted with one pair of eyes is found', async () => {
  const [fund] = funds as readonly [Fund];
  await assign({ ...fund, codes: ['PLANTED'] });
  const { applicationId } = fund.application;
  await world.parts.commands.handle({
    ...{ stream: loanStream(applicationId, 'PLANTED'), applicationId },
    ...{ actor: 'administrator/Rui Castro', correlationId: randomUUID() },
    decide: (state) =>
      loanDecider.decide(
        { type: 'ApproveLoan', now: world.clock.now(), decision: { decidedAt: world.clock.now() } },
        state,
      ),
  });
  expect(await readable(fund, 'PLANTED')).toBe('approved');
  const [found, ...others] = (await world.audit()).filter((line) => line.startsWith('{"kind"'));
  expect(others).toEqual([]);
  expect(JSON.parse(found!)).toMatchObject({
    ...{ kind: 'decision', stream: loanStream(applicationId, 'PLANTED'), what: 'four_eyes' },
    found: 'one: administrator/Rui Castro',
  });
});
