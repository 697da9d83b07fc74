import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { written } from '../../../infrastructure/console/html.ts';
import { fundNames } from '../../../infrastructure/console/funds.ts';
import { moneyBody } from '../../../infrastructure/console/pages/today/money.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';
import { DeskWorld, wordsOf } from './desk-world.ts';

let desk: DeskWorld;
let [named, unnamed] = ['', ''];
beforeAll(async () => {
  desk = await DeskWorld.open();
  [named, unnamed] = desk.application.funds as [string, string];
  await desk.assign('HELD');
  await desk.activate('HELD', '2026-06-10', 10_032);
  await desk.assign('WAITS');
});
afterAll(() => desk.close());

const name = (text: string): Promise<void> =>
  desk.world.parts.app.funds.name({ fundId: named, name: text, operator: 'Ana' });
const paths = (): readonly string[] => [
  ...['/', '/operations', '/decisions', '/audit', '/portfolio'],
  `/operations/${desk.key('HELD')}`,
  `/decisions/${desk.key('WAITS')}`,
];

test('without a name every page has the id alone', async () => {
  for (const path of paths()) {
    const { text } = await desk.get(path);
    expect(text).toContain(named);
    expect(text).not.toContain(`<small class="code">${named}</small>`);
  }
});

test('once it has one, every page says it with the id beside it, for names of any kind', async () => {
  await name('Aurora & <b>Filhos</b>');
  for (const path of paths()) {
    const { text } = await desk.get(path);
    expect([path, text]).toEqual([path, expect.stringContaining('Aurora &amp; &lt;b>Filhos&lt;/b>')]);
    expect(text).toContain(named);
  }
  const { text } = await desk.get('/decisions');
  expect(wordsOf(text)).toContain(`Aurora &amp; &lt;b>Filhos&lt;/b> ${named}`);
});

test('a selection offers names and keeps ids', async () => {
  await name('Aurora');
  const options = async (path: string) =>
    [...(await desk.get(path)).text.matchAll(/<option value="([^"]*)"[^>]*>([^<]*)</g)].map(
      ([, value, shown]) => [value, shown],
    );
  for (const path of ['/operations', '/portfolio', '/decisions'])
    expect(await options(path)).toContainEqual([named, `Aurora · ${named}`]);
  expect(await options('/operations')).toContainEqual([unnamed, unnamed]);
});

test('the chart of the week has the name, cut where it is long', () => {
  const due = [named, unnamed].map((fundId) => ({
    fundId,
    day: '2026-06-20',
    installments: 1,
    faceValue: 95_000,
  }));
  const names = new Map([[named, `Aurora ${'x'.repeat(70)}`]]);
  const text = written(moneyBody({ today: '2026-06-19', due, cameIn: [] }, names));
  expect(text).toContain(`Aurora ${'x'.repeat(17)}&quot;`);
  expect(text).toContain(`&quot;${unnamed.slice(0, 8)}&quot;`);
  expect(wordsOf(text)).toContain(`${names.get(named)!} ${named}`);
});

test('a preview of decisions says the name', async () => {
  await name('Aurora');
  expect(wordsOf((await desk.preview('approve', [desk.key('WAITS')])).text)).toContain(`Aurora ${named}`);
});

test('an audit of a fund is asked for by its name', async () => {
  await name('Aurora');
  const { text } = await desk.get('/audit');
  expect(text).toContain(`<option value="Aurora" label="${named}"></option>`);
});

test('the export keeps the id where it was, and has the name in a last column', async () => {
  await name('Aurora');
  const lines = (await desk.get('/operations/export')).text.trim().split('\n');
  expect(lines[0]).toMatch(
    /^application_id,originator_proposal_code,fund_id,.*,updated_at,days_late,overdue_value,fund_name$/,
  );
  expect(lines[1]).toMatch(new RegExp(`,${named},.*,Aurora$`));
});

test('an application is called like its oldest client that is not revoked', async () => {
  const { clients, webhooks } = desk.world.parts.app;
  const { applicationId, clientId } = desk.application;
  const shown = async () => (await clients.applicationNames()).get(applicationId);
  await clients.create({ applicationId, name: 'younger', fundIds: [] });
  expect(await shown()).toBe('life');
  await clients.revoke(clientId);
  expect(await shown()).toBe('younger');
  const asker = { applicationId, clientId, requestId: 'r', fundIds: desk.application.funds };
  const hook = { url: 'https://example.org/hook', events: ['*'], fundIds: [named] };
  const { webhook } = await webhooks.create(asker, hook);
  const { text } = await desk.get(`/webhooks/${webhook.webhookId}`);
  expect(wordsOf(text)).toContain('younger');
  expect(wordsOf(text)).toContain(`Aurora ${named}`);
});

test('names that cannot be read leave the ids, and a line in the log', async () => {
  const logger = new RecordingLogger();
  const funds = { names: () => Promise.reject(new Error('the event store is away')) };
  expect(await fundNames({ funds } as never, { logger } as never)).toEqual(new Map());
  expect(logger.lines).toMatchObject([{ level: 'warn', fields: { error: 'the event store is away' } }]);
});
