import { afterAll, expect, test } from '@jest/globals';
import { ConsoleServer } from '../../support/console-server.ts';
import { fundsOver } from '../../support/funds-over.ts';
import { BESIDE_EARLIER } from '../../support/application-parts.ts';
import { fundsPage } from '../../../infrastructure/console/pages/funds/page.ts';
import { keptPages } from '../../../infrastructure/console/kept.ts';
import type { App } from '../../../application/app.ts';
import { InMemoryEventStore } from '../../support/in-memory-event-store.ts';

const [A, B] = ['0b0e4a3c-6f57-4d0e-8a3b-1d2c3b4a5f60', '1b0e4a3c-6f57-4d0e-8a3b-1d2c3b4a5f61'];
const events = new InMemoryEventStore();
const clients = () => ({ funds: () => Promise.resolve([A, B]) });
const pages = [fundsPage, keptPages];

let [cookie, formToken] = ['', ''];
const open = async (
  parts: Parameters<typeof fundsOver>[0] = {},
  readOnly = false,
): Promise<ConsoleServer> => {
  const administrator = { rules: { current: () => Promise.resolve({ rules: new Map() }) } };
  const service = { administrator, funds: fundsOver({ events, clients, ...parts }) } as unknown as App;
  const opened = await ConsoleServer.open({ pages, service, settings: { readOnly } });
  ({ cookie, formToken } = await opened.enter());
  return opened;
};
const server = await open();
afterAll(() => server.close());

const get = (path: string, of = server) => of.ask(path, { headers: { cookie, 'accept-language': 'en' } });
const name = (fund: string, text: string, of = server) =>
  of.post(`/funds/${fund}/name`, { form_token: formToken, name: text }, { cookie });
/** What the console leads on to. */
const shown = async (fund: string, text: string, of = server) =>
  get((await name(fund, text, of)).headers.location!, of);

test('a fund is named in the name of the operator, and the page shows it', async () => {
  const { status, text } = await shown(A, ' Aurora ');
  expect([status, text.includes('value="Aurora"')]).toEqual([200, true]);
  expect((await events.read('fund-names')).events.map(({ metadata }) => metadata.actor)).toEqual([
    'administrator/maria.souza',
  ]);
  expect(server.lines).toContainEqual(
    expect.objectContaining({ action: 'configured', decision: 'name_fund', fundId: A }),
  );
});

test.each([
  ['AURORA', 'Another fund has this name already', 'fund_not_allowed'],
  [`a\u202eb`, 'This name is not accepted', 'validation_error'],
  ['x'.repeat(81), 'This name is not accepted', 'validation_error'],
  ['', 'This name is not accepted', 'validation_error'],
  [A, 'This name is not accepted', 'validation_error'],
])(
  '%j is refused beside what was typed, and again when the page is loaded again',
  async (typed, said, reason) => {
    const { location } = (await name(B, typed)).headers;
    for (const _ of [1, 2]) {
      const { status, text } = await get(location!);
      expect([status, text.includes(said)]).toEqual([422, true]);
    }
    expect(server.lines).toContainEqual(expect.objectContaining({ action: 'refused', reason, fundId: B }));
    expect((await events.read('fund-names')).events).toHaveLength(1);
  },
);

test('what others chose runs nothing on the page', async () => {
  const { text } = await shown(B, '<b>"Boreal\'</b>');
  expect(text).not.toContain('<b>"');
  expect(text).toContain('&lt;b>&quot;Boreal');
});

test('an amount that is none is refused, one of any length too, beside everything that was typed', async () => {
  for (const approve of ['ten', '1,999,999,999,999,999,999.00']) {
    const headers = { cookie, 'accept-language': 'en' };
    const typed = { fund: A, approve, disburse: '50,000.00', evidence: 'stated' };
    const answer = await server.post('/funds/rule', { form_token: formToken, ...typed }, headers);
    const { status, text } = await get(answer.headers.location!);
    expect([status, text.includes('An amount is written as')]).toEqual([422, true]);
    const [form] = /<details open.*?<\/details>/s.exec(text)!;
    expect(form).toMatch(new RegExp(`name="approve" value="${approve}"[^>]* aria-invalid="true"`));
    expect(form).toMatch(/name="disburse" value="50,000.00"(?![^>]* aria-invalid)/);
    expect([form.includes('value="stated" selected'), text.split('id="refusal"').length]).toEqual([true, 2]);
  }
  const reason = { action: 'refused', reason: 'validation_error', decision: 'four_eyes', fundId: A };
  expect(server.lines).toContainEqual(expect.objectContaining(reason));
});

test('a fund that nobody knows is not named', async () => {
  for (const unknown of ['2b0e4a3c-6f57-4d0e-8a3b-1d2c3b4a5f62', 'Joana'])
    expect((await name(unknown, 'Austral')).status).toBe(404);
  expect(JSON.stringify(server.lines)).not.toContain('Joana');
});

test('beside a release that knows no names the page says what to do, and a console that is read only refuses', async () => {
  const beside = await open({ formats: BESIDE_EARLIER });
  try {
    const { status, text } = await shown(A, 'Austral', beside);
    expect([status, text.includes('receivables upgrade finish')]).toEqual([422, true]);
  } finally {
    await beside.close();
  }
  const readOnly = await open({}, true);
  try {
    expect((await name(A, 'Austral', readOnly)).status).toBe(403);
    expect((await get('/funds', readOnly)).text).toContain('disabled');
  } finally {
    await readOnly.close();
  }
});
