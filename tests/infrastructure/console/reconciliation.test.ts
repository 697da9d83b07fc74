import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DeskWorld } from './desk-world.ts';

let desk: DeskWorld;
let fund: string;
let other: string;

beforeAll(async () => {
  desk = await DeskWorld.open();
  fund = desk.application.funds[0]!;
  other = (await desk.world.createApplication()).funds[0]!;
});
afterAll(() => desk?.close());

const STATEMENT = { name: 'extrato.csv', text: 'date;amount;reference\n18/06/2026;10,00;nothing\n' };
const HOW = {
  ...{ date_column: '1', amount_column: '2', reference_column: '3', header: 'on', decimal: ',' },
  ...{ delimiter: ';', date_format: 'DD/MM/YYYY', encoding: 'utf8', skip: '0', window: '3', tolerance: '0' },
};

const numberIn = (text: string): string => /name="statement" value="([^"]+)"/.exec(text)?.[1] ?? 'none';

const uploaded = async (): Promise<string> =>
  numberIn((await desk.upload('/reconciliation/statement', [], STATEMENT)).text);

/** The address of what a tab is shown. */
const compare = async (id: string, typed: Readonly<Record<string, string>>): Promise<string> => {
  const fields = Object.entries({ statement: id, ...HOW, from: '01/06/2026', to: '20/06/2026', ...typed });
  return (await desk.posted('/reconciliation/compare', fields)).headers.location!;
};

test('two tabs that compare one statement at once each have their own answer, and its file', async () => {
  const id = await uploaded();
  const asked = [
    { fund, to: '18/06/2026', day: '2026-06-18', of: fund },
    { fund: other, to: '19/06/2026', day: '2026-06-19', of: other },
    { fund: 'nothing of this name', to: '20/06/2026', day: '2026-06-20', of: undefined },
  ];
  const tabs = await Promise.all(asked.map((typed) => compare(id, { fund: typed.fund, to: typed.to })));
  for (const [i, path] of tabs.entries()) {
    const { fund: typed, to, day, of } = asked[i]!;
    const { text } = await desk.get(path);
    expect(text).toContain(`name="fund" list="funds" value="${typed}"`);
    expect(text).toMatch(new RegExp(`<input value="${to}"[^>]* name="to"`));
    expect(text.includes('id="results-title"')).toBe(of !== undefined);
    const file = await desk.post('/reconciliation/export', [
      ['statement', numberIn(text)],
      ['format', 'json'],
    ]);
    if (of === undefined) expect(file.status).toBe(410);
    else {
      expect(file.headers['content-disposition']).toContain(`reconciliation-2026-06-01-${day}.json`);
      expect(file.text).toContain(of);
    }
  }
});

test('of the answers about a statement the last are kept; an older one shows the statement as it was read', async () => {
  const id = await uploaded();
  const paths = [];
  for (const day of ['11', '12', '13', '14', '15'])
    paths.push(await compare(id, { fund, to: `${day}/06/2026` }));
  const shown = [];
  for (const path of paths) {
    const { status, text } = await desk.get(path);
    shown.push([status, text.includes('id="results-title"')]);
  }
  expect(shown).toEqual([[200, false], ...Array(4).fill([200, true])]);
});
