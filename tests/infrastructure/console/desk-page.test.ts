import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { linesOf } from '../../support/desk-over.ts';
import { DeskWorld, wordsOf } from './desk-world.ts';

let desk: DeskWorld;
beforeAll(async () => {
  desk = await DeskWorld.open();
  await desk.assign('WAITS');
});
afterAll(() => desk.close());

const page = async (query = ''): Promise<string> => wordsOf((await desk.get(`/desk${query}`)).text);

test('what was seen, decided and refused is listed with its operation and its fund', async () => {
  const [fund] = desk.application.funds;
  await desk.world.parts.app.funds.name({ fundId: fund!, name: 'Aurora', operator: 'Ana' });
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
      (await linesOf(desk.world.parts.app.desk)).filter(({ action }) => action === 'listed').length;
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
