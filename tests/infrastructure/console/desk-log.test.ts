import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Role } from '../../../application/desk/rights.ts';
import { StoreUnavailableError } from '../../../application/ports/event-store.ts';
import { DomainError } from '../../../domain/shared/domain-error.ts';
import { html } from '../../../infrastructure/console/html.ts';
import { ConsoleProblem, action, query, view } from '../../../infrastructure/console/page.ts';
import type { Page } from '../../../infrastructure/console/page.ts';
import { ConsoleServer } from '../../support/console-server.ts';

const FUND = '0b0e4a3c-6f57-4d0e-8a3b-1d2c3b4a5f60';
let [closed, shown] = [0, 0];
const PROBE: Page = {
  path: '/',
  title: () => 'Probe',
  routes: [
    view('/', async () => ({ kind: 'page', body: html`<p>a secret of the page</p>` })),
    view('/operations/:application/:code', async () => {
      shown += 1;
      return { kind: 'page', body: html`<p>${shown}</p>` };
    }),
    view('/live/:code', async ({ params: { code = '' } }) => {
      shown += 1;
      return { kind: 'part', body: '', logged: [{ action: 'viewed', applicationId: 'acme', code }] };
    }),
    view('/documents/:application/:code/:document', async () => ({
      kind: 'file',
      name: 'a.pdf',
      mediaType: 'application/pdf',
      content: {
        [Symbol.asyncIterator]: () => ({
          next: async () => ({ done: true, value: undefined }) as const,
          return: async () => {
            closed += 1;
            return { done: true, value: undefined } as const;
          },
        }),
      },
    })),
    view('/newest', async () => ({
      ...{ kind: 'part', body: '', logged: [{ action: 'listed', count: 1 }] },
      shows: [`acme/OP-${Math.floor((shown += 1) / 2)}`],
    })),
    view('/list', async () => ({ kind: 'part', body: '', logged: [{ action: 'listed', count: 3 }] })),
    view('/export', async () => ({ kind: 'file', name: 'a.csv', mediaType: 'text/csv', content: ['a\r\n'] })),
    view('/refused/:application/:code', async () => {
      throw new DomainError('operation_invalid_state', 'Joana Prado');
    }),
    view('/missing', async () => {
      throw new ConsoleProblem(404, () => 'Joana');
    }),
    view('/broken', async () => {
      throw new Error('a secret of the inside');
    }),
    query('/search', async () => ({ kind: 'redirect', to: '/list' })),
    action('/change', async ({ record }) => {
      await record([{ action: 'decided', outcome: 'applied' }]);
      return { kind: 'redirect', to: '/', logged: [] };
    }),
  ],
};

let server: ConsoleServer;
let [cookie, formToken] = ['', ''];
const open = async (more: Parameters<typeof ConsoleServer.open>[0] = {}): Promise<void> => {
  server = await ConsoleServer.open({ pages: [PROBE], ...more });
  ({ cookie, formToken } = await server.enter());
};
beforeEach(() => {
  [closed, shown] = [0, 0];
});
afterEach(() => server.close());

const get = (path: string, headers: Readonly<Record<string, string>> = {}) =>
  server.ask(path, { headers: { cookie, ...headers } });
const post = (path: string, fields: Readonly<Record<string, string>> = {}) =>
  server.post(path, { form_token: formToken, ...fields }, { cookie });
/** What was written since the session began, without who it was. */
const written = () => server.lines.slice(1).map(({ visitor: _, session: __, ...entry }) => entry);

describe('each answer is a line of its session', () => {
  beforeEach(() => open());

  test.each([
    ['/', { action: 'viewed' }],
    [`/?fund=${FUND}`, { action: 'viewed', fundId: FUND }],
    ['/operations/acme/OP-1', { action: 'viewed', applicationId: 'acme', code: 'OP-1' }],
    [
      '/documents/acme/OP-1/d-1',
      { action: 'downloaded', applicationId: 'acme', code: 'OP-1', documentId: 'd-1' },
    ],
    ['/list', { action: 'listed', count: 3 }],
    ['/export', { action: 'exported' }],
    [
      '/refused/acme/OP-1',
      {
        ...{ action: 'refused', outcome: 'refused', reason: 'operation_invalid_state' },
        ...{ applicationId: 'acme', code: 'OP-1' },
      },
    ],
    ['/missing', { action: 'refused', outcome: 'refused', reason: 'not_found' }],
    ['/Joana%20Prado', { action: 'refused', outcome: 'refused', reason: 'not_found' }],
    ['/broken', { action: 'viewed', outcome: 'failed' }],
  ])('%s', async (path, line) => {
    await get(path);
    expect(written()).toEqual([line]);
    expect(JSON.stringify(server.lines)).not.toMatch(/Joana|secret/);
  });

  test('a search without its term, an action with what it says, a form of elsewhere as refused', async () => {
    await post('/search', { document: '52998224725', code: 'Joana' });
    await post('/change', { remark: 'Joana' });
    await server.post('/change', { form_token: 'guessed' }, { cookie });
    expect(written()).toEqual([
      { action: 'searched' },
      { action: 'decided', outcome: 'applied' },
      { action: 'refused', outcome: 'refused', reason: 'forbidden' },
    ]);
    expect(JSON.stringify(server.lines)).not.toMatch(/Joana|52998224725/);
  });

  test('coming in and going out; the operator stands for who is not signed in, and the id is not the cookie', async () => {
    await post('/session/end');
    const [begun, ended] = server.lines;
    expect([begun!.action, ended!.action, server.lines.length]).toEqual(['signed_in', 'signed_out', 2]);
    expect(begun!.visitor).toEqual({ way: 'console', name: 'maria.souza' });
    expect(ended!.session).toBe(begun!.session);
    expect(begun!.session).toMatch(/^[\w-]{8,}$/);
    expect(cookie).not.toContain(begun!.session!);
  });

  test('what a browser asks for by itself beside a file is nobody’s refusal', async () => {
    expect((await get('/favicon.ico')).status).toBe(204);
    expect(written()).toEqual([]);
  });

  test('who has no session appends nothing', async () => {
    for (const path of [
      '/',
      '/operations/acme/OP-1',
      '/nowhere',
      '/enter?token=guessed',
      '/assets/console.css',
    ])
      await server.ask(path);
    await server.ask('/', { headers: { cookie: 'receivables_console_1=guessed' } });
    expect(written()).toEqual([]);
  });

  test('what an open page fetches by itself is a line once, whatever the browser claims at first', async () => {
    const unattended = { 'x-unattended': '1' };
    for (const path of ['/live/OP-1', '/live/OP-1', '/live/OP-2']) await get(path, unattended);
    expect(written().map(({ code }) => code)).toEqual(['OP-1', 'OP-2']);
    await get('/live/OP-1');
    expect(written()).toHaveLength(3);
    expect(shown).toBe(4);
  });

  test('what an open page fetches by itself is a line again where as many are others', async () => {
    for (let i = 0; i < 5; i += 1) await get('/newest', { 'x-unattended': '1' });
    expect(written()).toHaveLength(3);
  });

  test('what an open page fetches by itself under other roles is a line of its own', async () => {
    const session = server.sessions.find(cookie.slice(cookie.indexOf('=') + 1), false)!;
    const become = (role: Role): void =>
      void Object.assign(session, { person: { issuer: 'i', subject: 's', name: 'n', grants: [{ role }] } });
    for (const role of ['viewer', 'viewer', 'maker', 'maker'] as const) {
      become(role);
      await get('/operations/acme/OP-1', { 'x-unattended': '1' });
    }
    expect(written()).toHaveLength(2);
  });

  test('no claim to be such a fetch hides a file, a search, or another address with the same line', async () => {
    const unattended = { 'x-unattended': '1' };
    for (const path of ['/list', '/list', '/list?after=1', '/list?after=2', '/list?after=1'])
      await get(path, unattended);
    expect(written()).toEqual([1, 2, 3].map(() => ({ action: 'listed', count: 3 })));
    for (const path of ['/', '/', '/export', '/export', '/operations/acme/OP-1', '/operations/acme/OP-1'])
      await get(path, unattended);
    for (let i = 0; i < 2; i += 1)
      await server.post('/search', { form_token: formToken }, { cookie, ...unattended });
    expect(
      written()
        .slice(3)
        .map(({ action: done }) => done),
    ).toEqual(['viewed', 'exported', 'exported', 'viewed', 'searched', 'searched']);
  });
});

test('a console that is read only writes what it refuses', async () => {
  await open({ settings: { readOnly: true } });
  expect((await post('/change')).status).toBe(403);
  expect(written()).toEqual([{ action: 'refused', outcome: 'refused', reason: 'forbidden' }]);
});

test('where the log cannot be written nothing is shown, and it is shown once it can', async () => {
  let away = false;
  const desk = {
    record: () => (away ? Promise.reject(new StoreUnavailableError('away')) : Promise.resolve()),
  };
  await open({ desk });
  away = true;
  const refused = await get('/', { 'accept-language': 'en' });
  expect(refused.status).toBe(503);
  expect(refused.text).toContain('The desk log cannot be written now');
  expect(refused.text).not.toContain('a secret of the page');
  expect([(await get('/documents/acme/OP-1/d-1')).status, closed]).toEqual([503, 1]);
  expect((await get('/missing')).status).toBe(404);
  expect(server.logger.lines.map(({ level, message }) => [level, message])).toEqual([
    ['warn', 'the desk log could not be written'],
    ['warn', 'pages of the console were refused for now'],
  ]);
  const token = server.sessions.issueToken();
  const entering = await server.ask(`/enter?token=${token}`);
  expect([entering.status, entering.headers['set-cookie']]).toEqual([503, undefined]);
  away = false;
  expect((await get('/')).text).toContain('a secret of the page');
  away = true;
  expect((await post('/session/end')).status).toBe(503);
  away = false;
  expect((await get('/')).status).toBe(401);
});
