import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { cents } from '../../domain/shared/money.ts';
import { assignIn } from '../lives/assign-in.ts';
import { World } from '../lives/world.ts';
import type { TestApplication } from '../lives/world.ts';
import { loanRequest } from '../support/api-client.ts';
import { looked, send, shown } from './console-browser.ts';
import { SignInDesk } from './sign-in-desk.ts';

jest.setTimeout(240_000);

let world: World;
let desk: SignInDesk;
let application: TestApplication;

beforeAll(async () => {
  world = await World.start();
  application = await world.createApplication();
  const fundId = application.funds[0]!;
  const decisions = [{ decision: 'approve', from: cents(0) }] as const;
  const asked = { decisionId: 'RULE', actor: 'administrator' };
  await world.parts.administrator.rules.set({ fundId, evidence: 'signed-in', decisions }, asked, {});
  await assignIn(world, application, loanRequest(fundId, 'OP-1'));
  expect(await statusOf()).toBe('received');

  const people = {
    ana: { name: 'Ana Prado', roles: ['maker', 'checker'] },
    rui: { name: 'Rui Castro', roles: ['checker'] },
    eva: { name: 'Eva Reis', roles: ['viewer'] },
    leo: { name: 'Leo Nunes', roles: ['auditor'] },
  };
  desk = await SignInDesk.open(world, people, 'viewer=viewer,maker=maker,checker=checker,auditor=auditor');
}, 300_000);
afterAll(async () => {
  await desk?.close();
  await world?.stop();
});

const statusOf = async (): Promise<string> =>
  (await world.call(application, { method: 'GET', path: '/loan/OP-1' })).body.status;

const enterAs = async (login: string): Promise<Page> => {
  const { page } = await desk.enter();
  await page.getByRole('link', { name: 'Sign in' }).click();
  await desk.goIn(page, login);
  await shown(page, 'Today');
  return page;
};

const open = async (page: Page, path: string, heading: string): Promise<void> => {
  await page.goto(desk.origin + path);
  await shown(page, heading);
};
const AWAITING = 'Awaiting another person';

test('one person decides, only another one lets it take effect, and the log says who', async () => {
  const ana = await enterAs('ana');
  await open(ana, '/decisions', 'Decisions');
  await ana.getByLabel('Choose OP-1', { exact: true }).check();
  await ana.getByRole('button', { name: 'Approve' }).click();
  await shown(ana, 'Approve: check before you decide');
  await send(ana, 'Confirm');
  await ana.getByText('1 awaits the confirmation of another person.').waitFor();
  expect(await statusOf()).toBe('received');

  // Whose own decision it is, whatever her roles.
  await open(ana, '/awaiting', AWAITING);
  await ana.locator('input[name=first]').check();
  await send(ana, 'Confirm');
  await ana.getByText('0 done, 1 refused.').waitFor();

  const eva = await enterAs('eva');
  await open(eva, '/awaiting', AWAITING);
  expect(await eva.getByRole('button', { name: 'Confirm' }).count()).toBe(0);

  // By no way in without a person who is signed in.
  const [first] = await world.parts.administrator.confirmations.awaiting();
  const confirmation = {
    decision_id: 'BY-FILE',
    decision: 'confirm',
    first_decision_id: first!.firstDecisionId,
  };
  const [answer] = await world.parts.administrator.submitAll([JSON.stringify(confirmation)], { name: 'rui' });
  expect(answer).toMatchObject({ outcome: 'refused', reason: { code: 'evidence_missing' } });
  expect(await statusOf()).toBe('received');

  const rui = await enterAs('rui');
  await open(rui, '/awaiting', AWAITING);
  expect(await looked(rui, 'awaiting')).toEqual([]);
  await rui.locator('input[name=first]').check();
  expect(await rui.locator('.tally').textContent()).toMatch(/1 chosen · R\$10,032\.00/);
  await send(rui, 'Confirm');
  await rui.getByText('1 done, 0 refused.').waitFor();
  expect(await statusOf()).toBe('approved');

  const leo = await enterAs('leo');
  await open(leo, '/desk', 'Desk log');
  const lines = await leo.locator('tbody tr').allInnerTexts();
  const said = (person: string, what: string): boolean =>
    lines.some((line) => line.includes(person) && line.includes(what) && line.includes('OP-1'));
  expect(lines.length).toBeGreaterThan(8);
  expect([said('Ana Prado', 'approve'), said('Rui Castro', 'confirm')]).toEqual([true, true]);
  expect(await world.audit()).toEqual([]);
});
