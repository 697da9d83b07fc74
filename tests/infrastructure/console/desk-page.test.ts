import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { Grant } from '../../../application/desk/rights.ts';
import { cents } from '../../../domain/shared/money.ts';
import { linesOf } from '../../support/desk-over.ts';
import { DeskWorld, formIn, personWith, wordsOf } from './desk-world.ts';

let desk: DeskWorld;
beforeAll(async () => {
  desk = await DeskWorld.open();
  await desk.assign('WAITS');
});
afterAll(() => desk.close());

const page = async (query = ''): Promise<string> => wordsOf((await desk.get(`/desk${query}`)).text);

test('what was seen, decided and refused is listed with its operation and its fund', async () => {
  const [fund] = desk.application.funds;
  await desk.world.parts.funds.name({ fundId: fund!, name: 'Aurora', operator: 'Ana' });
  await desk.get(`/operations/${desk.key('WAITS')}`);
  await desk.get(`/operations/${desk.key('11144477735')}`);
  await desk.confirm(await desk.preview('approve', [desk.key('WAITS')]));
  const text = await page();
  for (const line of [
    /maria\.souza console signed in done/,
    new RegExp(`maria\\.souza console viewed done WAITS Aurora ${fund}`),
    /maria\.souza console was refused refused not_found/,
    new RegExp(`maria\\.souza console decided carried out WAITS Aurora ${fund} approve`),
  ])
    expect(text).toMatch(line);
  expect(text).not.toContain('11144477735');
  expect(text.indexOf('decided carried out')).toBeLessThan(text.indexOf('signed in'));
});

test('it is chosen by operation, fund, person and day, and what is no date is said so', async () => {
  const [fund] = desk.application.funds;
  expect(await page('?code=WAITS')).not.toContain('signed in');
  expect(await page(`?fund=${fund}`)).toContain('viewed done WAITS');
  expect(await page('?code=OTHER')).toContain('Nothing is recorded.');
  expect(await page('?subject=nobody')).toContain('Nothing is recorded.');
  expect(await page('?since=2100-01-01')).toContain('Nothing is recorded.');
  expect(await page('?before=yesterday')).toContain('signed in');
  expect((await desk.get('/desk?since=2026-13-45')).status).toBe(422);
  for (const at of ['2026-19-39T29:00:00.000Z', '9999-99-99T99:99:99.999Z'])
    expect(await page(`?before=${at}%20desk-x%200000000001`)).toContain('signed in');
});

test('a fund in capitals, as other tools write it, is the fund, on each page and in the log', async () => {
  const fund = desk.application.funds[0]!.toUpperCase();
  expect(await page(`?fund=${fund}`)).toContain('viewed done WAITS');
  await desk.assign('CAPITAL');
  expect(wordsOf((await desk.get(`/decisions?fund=${fund}`)).text)).toContain('CAPITAL');
  expect(wordsOf((await desk.get(`/operations?fund=${fund}`)).text)).toContain('CAPITAL');
  expect((await desk.get(`/portfolio/position?fund=${fund}`)).status).toBe(200);
  const lines = await linesOf(desk.world.parts.desk);
  expect(lines.filter(({ fundId }) => fundId === fund)).toEqual([]);
});

test('a hundred are a page, and the next one goes on where it ended', async () => {
  for (let i = 0; i < 101; i += 1) await desk.get('/funds');
  const { text } = await desk.get('/desk');
  const [, older] = /<a href="([^"]*)" rel="next">/.exec(text) ?? [];
  expect((text.match(/<tr>/g) ?? []).length).toBe(101);
  const next = await desk.get(older!.replaceAll('&amp;', '&'));
  expect([next.status, wordsOf(next.text).includes('signed in')]).toEqual([200, true]);
});

test.each(['/decisions', '/operations?status=received'])(
  '%s, fetched by itself, is a line again where as many are others',
  async (path) => {
    const lists = async (): Promise<number> =>
      (await linesOf(desk.world.parts.desk)).filter(({ action }) => action === 'listed').length;
    const fetched = async (): Promise<string> => (await desk.get(path, { 'x-unattended': '1' })).text;
    const [one, other] = ['ONE', 'OTHER'].map((code) => `${code}-${path.slice(1, 4)}`) as [string, string];
    await desk.assign(one);
    expect(await fetched()).toContain(one);
    const before = await lists();
    expect(await fetched()).toContain(one);
    expect(await lists()).toBe(before);
    await desk.elsewhere(one, 'reject', { reasons: [{ code: 'late', message: 'Decided elsewhere' }] });
    await desk.assign(other);
    expect(await fetched()).toContain(other);
    expect(await lists()).toBe(before + 1);
  },
);

describe('decisions that need two people', () => {
  const fundId = () => desk.application.funds[0]!;
  const setRule = (decisions: readonly ('approve' | 'reject')[], decisionId: string, name: string) =>
    desk.world.parts.administrator.rules.set(
      ...([
        {
          fundId: fundId(),
          evidence: 'stated',
          decisions: decisions.map((decision) => ({ decision, from: cents(0) })),
        },
        { decisionId, actor: `administrator/${name}` },
        { name },
      ] as const),
    );
  const settle = (second: string, ...firsts: readonly string[]) =>
    desk.post('/awaiting/settle', [['second', second], ...firsts.map((id) => ['first', id] as const)]);

  test('without a rule nothing awaits, and no page leads there', async () => {
    expect((await desk.get('/decisions')).text).not.toContain('/awaiting');
    expect(wordsOf((await desk.get('/awaiting')).text)).toContain('Nothing awaits another person.');
  });

  test('what needs two people is listed with what it says, and confirmed by another person', async () => {
    await desk.assign('A1');
    await desk.assign('A2');
    await setRule(['approve', 'reject'], 'R', 'Ana');
    const submit = (id: string, code: string, more: object) =>
      desk.world.parts.administrator.submitAll(
        [
          JSON.stringify({
            ...{ decision_id: id, application_id: desk.application.applicationId },
            ...{ originator_proposal_code: code, ...more },
          }),
        ],
        { name: 'Ana' },
      );
    await submit('D-1', 'A1', { decision: 'approve', note: 'committee' });
    await submit('D-2', 'A2', { decision: 'reject', reasons: [{ code: 'fraud', message: 'forged' }] });
    expect((await desk.get('/decisions')).text).toContain('href="/awaiting"');
    const awaiting = await desk.world.parts.administrator.confirmations.awaiting();
    const shown = await desk.get('/awaiting');
    expect(wordsOf(shown.text)).toMatch(
      /Approve A1 R\$[\d.,]+ committee Ana .* Reject A2 R\$[\d.,]+ fraud: forged Ana/,
    );
    expect(formIn(shown.text).fields.filter(([name]) => name === 'first')).toEqual([]);
    const done = wordsOf((await settle('confirm', 'D-1')).text);
    expect(done).toContain('1 done, 0 refused.');
    expect(done).toContain('D-1 A1 Done Approved');
    expect(wordsOf((await settle('withdraw', 'D-2')).text)).toContain('D-2 A2 Done Received');
    const late = wordsOf((await settle('confirm', 'D-2', 'D-9')).text);
    expect(late).toContain('0 done, 2 refused.');
    const lines = await linesOf(desk.world.parts.desk);
    const settled = lines.filter(({ action }) => ['confirmed', 'withdrawn', 'configured'].includes(action));
    expect(lines.filter(({ decision, count }) => decision === 'awaiting' && count! > 0)).toMatchObject([
      { action: 'listed', count: 2, sum: awaiting.reduce((sum, { value }) => sum + value!, 0) },
    ]);
    expect(settled.map(({ action, decisionId }) => [action, decisionId]).toSorted()).toEqual([
      ['confirmed', 'D-1'],
      ['withdrawn', 'D-2'],
    ]);
    expect(wordsOf((await desk.get('/awaiting')).text)).toContain('Nothing awaits another person.');
  });

  test('a decision of the console that needs two people awaits, and its own author cannot confirm it', async () => {
    await desk.assign('B1');
    const preview = await desk.preview('approve', [desk.key('B1')]);
    const told = wordsOf((await desk.confirm(preview)).text);
    expect(told).toContain('0 done, 0 refused.');
    expect(told).toContain('1 awaits the confirmation of another person.');
    const [awaiting] = await desk.world.parts.administrator.confirmations.awaiting(fundId());
    const own = wordsOf((await settle('confirm', awaiting!.firstDecisionId)).text);
    expect(own).toContain('0 done, 1 refused.');
    expect(own).toContain('another person has to');
  });

  test('the page of an operation says that it awaits another person, and asks for no other operation', async () => {
    const listed = jest.spyOn(desk.service.administrator.worklists, 'of');
    const { text } = await desk.get(`/operations/${desk.key('B1')}`);
    expect(text).toContain('<a href="/awaiting">Decided by one person: awaits another one</a>');
    await desk.assign('B2');
    const other = await desk.get(`/operations/${desk.key('B2')}`);
    expect([other.text.includes('/awaiting'), other.text.includes('value="approve"')]).toEqual([false, true]);
    expect(listed).not.toHaveBeenCalled();
    listed.mockRestore();
  });

  test('where several funds have rules one of them can be chosen, and no choice is all', async () => {
    expect((await desk.get('/awaiting')).text).not.toContain('<select');
    const other = desk.application.funds[1]!;
    const rule = {
      fundId: other,
      evidence: 'stated',
      decisions: [{ decision: 'approve', from: cents(0) }],
    } as const;
    const asked = { decisionId: 'R-2', actor: 'administrator/Ana' };
    await desk.world.parts.administrator.rules.set(rule, asked, { name: 'Ana' });
    const shown = async (path: string): Promise<boolean> => (await desk.get(path)).text.includes('B1</a>');
    expect((await desk.get('/awaiting')).text).toMatch(
      new RegExp(`<select name="fund">.*value="${other}"`, 's'),
    );
    expect([await shown('/awaiting?fund='), await shown(`/awaiting?fund=${other}`)]).toEqual([true, false]);
  });

  test('who may settle it in other funds alone sees it without a box, so that all of a page are not refused for it', async () => {
    const [own, other] = desk.application.funds;
    const boxes = async (...grants: readonly Grant[]): Promise<number> => {
      desk.become(personWith({ role: 'viewer' }, ...grants));
      const { text } = await desk.get('/awaiting');
      expect(text).toContain('B1</a>');
      return text.split('name="first"').length - 1;
    };
    try {
      expect(await boxes({ role: 'checker', funds: [other!] })).toBe(0);
      expect(await boxes({ role: 'maker', funds: [own!] })).toBe(1);
      expect(await boxes()).toBe(0);
      expect((await desk.get('/awaiting')).text).not.toContain('data-choose-all');
    } finally {
      desk.become(undefined);
    }
  });

  test('a weaker rule is listed with what it would be, and of no operation', async () => {
    await setRule(['approve'], 'WEAKER', 'Ana');
    const shown = wordsOf((await desk.get(`/awaiting?fund=${fundId()}`)).text);
    expect(shown).toContain("The fund's rule Approve ≥ R$0.00 (two names, as they are stated) Ana");
    expect(wordsOf((await settle('confirm', 'WEAKER')).text)).toContain('WEAKER Done');
  });

  test('a rule is set in its form, and one that asks for less awaits another person', async () => {
    const set = (...fields: readonly (readonly [string, string])[]) =>
      desk.post('/funds/rule', [['fund', fundId()], ...fields]);
    expect(wordsOf((await desk.get('/funds')).text)).toContain(
      'Approve ≥ R$0.00 (two names, as they are stated)',
    );
    const more = await set(['approve', '0.00'], ['disburse', '50,000.00'], ['evidence', 'stated']);
    expect(wordsOf(more.text)).toContain('The rule is in force from now on.');
    expect((await desk.get('/funds')).text).toContain('value="50,000.00"');
    const less = await set(['approve', '10'], ['evidence', 'stated']);
    expect(wordsOf(less.text)).toContain('awaits the confirmation of another person');
    const again = await set(['evidence', 'stated']);
    expect([again.status, wordsOf(again.text)]).toEqual([
      422,
      expect.stringContaining('awaits confirmation already'),
    ]);
    expect((await set(['approve', 'x'])).status).toBe(422);
    expect((await desk.post('/funds/rule', [['fund', 'nobody']])).status).toBe(404);
  });

  test('nothing chosen, and what is neither confirmation nor withdrawal, are told', async () => {
    expect((await settle('confirm')).status).toBe(422);
    expect((await settle('approve', 'D-1')).status).toBe(422);
  });
});
