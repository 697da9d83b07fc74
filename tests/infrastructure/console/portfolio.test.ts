import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DeskWorld, wordsOf } from './desk-world.ts';

let desk: DeskWorld;
beforeAll(async () => {
  desk = await DeskWorld.open();
  await desk.assign('HELD');
  await desk.activate('HELD', '2026-06-10', 10_032);
});
afterAll(() => desk.close());

/** The table of the cash flow, by month: came, overdue, to fall due. */
const cashOn = async (day: string): Promise<string> => {
  const { text } = await desk.get(`/portfolio/position?fund=${desk.application.funds[0]!}&day=${day}`);
  return wordsOf(/<section aria-labelledby="cash-title".*?<\/section>/s.exec(text)![0]);
};

test('what is due before the day and open is overdue, in the month of the day too', async () => {
  expect(await cashOn('2026-06-20')).toContain('06/2026 R$0.00 R$950.00 R$0.00');
  expect(await cashOn('2026-06-15')).toContain('06/2026 R$0.00 R$0.00 R$950.00');
  expect(await cashOn('2026-06-20')).toContain('07/2026 R$0.00 R$0.00 R$950.00');
});

test('an operation that was received after its disbursement is said to count in the portfolio before', async () => {
  const { applicationId, funds } = desk.application;
  const { text } = await desk.get(`/portfolio/position?fund=${funds[0]!}&day=2026-06-12`);
  expect(wordsOf(text)).toContain('An operation counts from the day of its disbursement');
  const told = wordsOf((await desk.get(`/operations/${applicationId}/HELD?as_of=2026-06-12`)).text);
  expect(told).toContain('On that day the operation had not been received yet. It was registered later');
  expect(told).toContain('as disbursed on 10/06/2026');
  const before = wordsOf((await desk.get(`/operations/${applicationId}/HELD?as_of=2026-06-09`)).text);
  expect(before).toContain('At that time the operation did not exist yet.');
});

test('CSV for Excel in Portuguese is a switch that the browser keeps, for every file', async () => {
  const of = `fund=${desk.application.funds[0]!}&day=2026-06-20`;
  const files = ['/operations/export', `/portfolio/export?${of}`, `/portfolio/composition?${of}`];
  const written = async (): Promise<string> => {
    const [operations, position, composition] = await Promise.all(files.map((path) => desk.get(path)));
    const [line] = operations!.text.split('\n').slice(1);
    const sums = position!.text
      .split('\n')
      .find((one) => one.startsWith('operations') || one.startsWith('overdue'));
    const state = composition!.text.split('\n').find((one) => one.startsWith('state'));
    return [line, sums, state].map((one) => one!.replaceAll(/[0-9a-f-]{36}/g, 'ID')).join('\n');
  };
  const plain = await written();
  expect(plain).toMatch(/,HELD,ID,active,financing,10032\.00,0\.00,12,2026-01-15,/);
  expect(plain).toMatch(/\nstate,,active,1,\d+\.\d\d,1\.000000,,$/);
  const { text } = await desk.post('/session/csv', [['csv', 'brazilian']]);
  expect(text).toContain('<h1>Today</h1>');
  const brazilian = await written();
  expect(brazilian).toMatch(/;HELD;ID;Ativa;financing;10032,00;0,00;12;2026-01-15;/);
  expect(brazilian).toMatch(/\nstate;;Ativa;1;\d+,\d\d;1,000000;;$/);
  for (const path of files) expect((await desk.get(path)).text.charCodeAt(0)).toBe(0xfeff);
  expect((await desk.get('/operations')).text).toContain('aria-pressed="true"');
  await desk.post('/session/csv', [['csv', 'anything']]);
  expect(await written()).toBe(plain);
});
