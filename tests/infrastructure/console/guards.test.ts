import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { DomainError } from '../../../domain/shared/domain-error.ts';
import type { DomainErrorCode } from '../../../domain/shared/domain-error.ts';
import { html } from '../../../infrastructure/console/html.ts';
import { action, view } from '../../../infrastructure/console/page.ts';
import type { Page } from '../../../infrastructure/console/page.ts';
import { PAGES } from '../../../infrastructure/console/pages/all.ts';
import { ConsoleServer, UNREACHABLE } from '../../support/console-server.ts';

const routes = PAGES.flatMap((page) => page.routes).map(({ kind, path }) => ({
  kind,
  path: path.replaceAll(/:\w+/g, 'one'),
}));
const forms = routes.filter(({ kind }) => kind !== 'view');
const actions = routes.filter(({ kind }) => kind === 'action');

let done: number;
const slow = Promise.withResolvers<void>();
/** A page of nothing but what is looked at here. */
const PROBE: Page = {
  path: '/',
  title: () => 'Probe',
  live: true,
  routes: [
    view('/', async ({ operator }) => ({ kind: 'page', body: html`<p>${operator} <b>x</b> ${'<i>&"'}</p>` })),
    view('/slow', async () => {
      await slow.promise;
      return { kind: 'part', body: 'late' };
    }),
    view('/refused/:code', async ({ params }) => {
      throw new DomainError(params['code'] as DomainErrorCode, '<b>the rule');
    }),
    view('/broken', async () => {
      throw new Error('a secret of the inside');
    }),
    view('/file', async ({ query }) => ({
      kind: 'file',
      name: query.get('name') ?? 'a "b"\r\nc.pdf',
      mediaType: query.get('type') ?? 'application/pdf',
      inline: true,
      content: (async function* () {
        yield '%PDF-1.4';
      })(),
    })),
    view('/elsewhere', async ({ query }) => ({ kind: 'redirect', to: query.get('to')! })),
    action('/act', async ({ fields }) => {
      done += 1;
      return { kind: 'part', body: fields.get('what') };
    }),
  ],
};

let server: ConsoleServer;
beforeEach(async () => {
  done = 0;
  server = await ConsoleServer.open({ pages: [PROBE] });
});
afterEach(() => server.close());

const english = { 'accept-language': 'en' };

describe('the printed address', () => {
  test('begins a session that only its browser can go on with', async () => {
    const { status, headers } = await server.ask(`/enter?token=${server.sessions.issueToken()}`);
    expect([status, headers.location]).toEqual([303, '/']);
    const [cookie] = headers['set-cookie']!;
    expect(cookie).toMatch(/^receivables_console_\d+=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/);
    const page = await server.ask('/', { headers: { cookie: cookie!.split(';')[0]!, ...english } });
    expect([page.status, page.text.includes('maria.souza')]).toEqual([200, true]);
  });

  test('goes on by itself where a file led to it, because a redirect would take no strict cookie along', async () => {
    for (const [site, status] of [
      ['cross-site', 200],
      ['same-site', 200],
      ['same-origin', 303],
      ['none', 303],
    ] as const) {
      let used = 0;
      const answer = await server.ask(`/enter?token=${server.sessions.issueToken(() => (used += 1))}`, {
        headers: { 'sec-fetch-site': site },
      });
      expect([answer.status, used, answer.headers['set-cookie']?.length]).toEqual([status, 1, 1]);
      expect(answer.text.includes('<meta http-equiv="refresh" content="0;url=/"')).toBe(status === 200);
    }
  });

  test.each([
    ['used already', () => {}],
    ['too old', () => (server.elapsed = 600_000)],
    ['followed by another one', () => void server.sessions.issueToken()],
  ])('opens nothing when it was %s', async (name, happens) => {
    const token = server.sessions.issueToken();
    if (name === 'used already') await server.ask(`/enter?token=${token}`);
    happens();
    const answer = await server.ask(`/enter?token=${token}`, { headers: english });
    expect([answer.status, answer.headers['set-cookie']]).toEqual([401, undefined]);
    expect(answer.text).toContain('Ask for another one on the terminal');
  });

  test.each(['', '?token=', '?token=x', '?token=a&token=b', '?other=1'])(
    'opens nothing as /enter%s',
    async (query) => {
      server.sessions.issueToken();
      expect((await server.ask(`/enter${query}`)).status).toBe(401);
    },
  );
});

describe('without a session', () => {
  test('no page of the console is shown and no form of it taken', async () => {
    const whole = await ConsoleServer.open();
    try {
      for (const { kind, path } of routes) {
        const method = kind === 'view' ? 'GET' : 'POST';
        for (const headers of [{}, { cookie: 'receivables_console_1=x' }]) {
          const answer = await whole.ask(path, { method, headers });
          expect([path, answer.status, answer.text.includes('maria.souza')]).toEqual([path, 401, false]);
        }
      }
      for (const path of ['/live', '/session']) expect((await whole.ask(path)).status).toBe(401);
    } finally {
      await whole.close();
    }
  });

  test('a session that was not used ends, and what a page fetches by itself keeps none alive', async () => {
    const { cookie } = await server.enter();
    const statusOf = async (headers: object) =>
      (await server.ask('/', { headers: { cookie, ...headers } })).status;
    server.elapsed = 1_799_999;
    expect(await statusOf({ 'x-unattended': '1' })).toBe(200);
    expect(await statusOf({})).toBe(200);
    server.elapsed += 1_799_999;
    expect(await statusOf({ 'x-unattended': '1' })).toBe(200);
    server.elapsed += 1;
    expect(await statusOf({})).toBe(401);
  });

  test('a form that is typed into asks for its session, which is used by that', async () => {
    const { cookie, formToken } = await server.enter();
    const asked = () => server.ask('/session', { headers: { cookie } });
    for (const _ of [1, 2]) {
      server.elapsed += 1_799_999;
      expect(await asked()).toMatchObject({ status: 200, text: formToken });
    }
    server.elapsed += 1_800_000;
    expect((await asked()).status).toBe(401);
  });

  test('a session ends after twelve hours, however much it is used', async () => {
    const { cookie } = await server.enter();
    for (; server.elapsed < 12 * 3_600_000; server.elapsed += 1_000_000)
      expect((await server.ask('/', { headers: { cookie } })).status).toBe(200);
    expect((await server.ask('/', { headers: { cookie } })).status).toBe(401);
  });

  test('a session that the person ends is over', async () => {
    const { cookie, formToken } = await server.enter();
    const ended = await server.post('/session/end', { form_token: formToken }, { cookie, ...english });
    expect([ended.status, ended.text.includes('The session has ended')]).toEqual([401, true]);
    expect((await server.ask('/', { headers: { cookie } })).status).toBe(401);
  });
});

test('a form that was refused leads, loaded again or in the other language, to the page that it stood on', async () => {
  const { cookie, formToken } = await server.enter();
  const referer = `${server.origin}/act`;
  const fields = { form_token: formToken, language: 'en' };
  const chosen = await server.post('/session/language', fields, { cookie, referer });
  expect(chosen.headers.location).toBe('/act');
  const { status, headers } = await server.ask('/act', { headers: { cookie } });
  expect([status, headers.location]).toEqual([303, '/']);
});

describe('a form that comes from elsewhere', () => {
  const foreign: readonly (readonly [string, Record<string, string>, boolean])[] = [
    ['with the origin of another page', { origin: 'http://evil.example' }, true],
    ['with the origin of another port', { origin: 'http://127.0.0.1:1' }, true],
    ['with no origin to name', { origin: 'null' }, true],
    ['from another site, as the browser says', { 'sec-fetch-site': 'cross-site' }, true],
    ['from another port, as the browser says', { 'sec-fetch-site': 'same-site' }, true],
    ['without its token', {}, false],
    ['with a wrong token', { 'x-form-token': 'x'.repeat(43) }, false],
  ];

  test.each(foreign)('is refused %s', async (_, headers, knowsToken) => {
    const { cookie, formToken } = await server.enter();
    const fields = knowsToken ? { form_token: formToken } : { what: 'x' };
    const answer = await server.post('/act', fields, { cookie, ...headers });
    expect([answer.status, done]).toEqual([403, 0]);
  });

  test('is refused by every form of the console', async () => {
    const whole = await ConsoleServer.open();
    try {
      const { cookie, formToken } = await whole.enter();
      expect(forms.length).toBeGreaterThan(1);
      for (const { path } of [...forms, { path: '/session/language' }, { path: '/session/end' }]) {
        const forged = { cookie, origin: 'http://evil.example', 'x-form-token': formToken };
        expect([path, (await whole.post(path, {}, forged)).status]).toEqual([path, 403]);
        expect([path, (await whole.post(path, {}, { cookie })).status]).toEqual([path, 403]);
      }
    } finally {
      await whole.close();
    }
  });

  test('is taken from a page of the console, with the token in the form or in its header', async () => {
    const { cookie, formToken } = await server.enter();
    const own = { cookie, 'sec-fetch-site': 'same-origin' };
    expect((await server.post('/act', { form_token: formToken, what: 'ok' }, own)).text).toBe('ok');
    expect((await server.post('/act', {}, { ...own, 'x-form-token': formToken })).status).toBe(200);
    expect(done).toBe(2);
  });
});

test('a form of a session that ended can be sent in the next one, as it was typed, and only from a page of the console', async () => {
  const first = await server.enter();
  const typed = { form_token: first.formToken, what: 'committee "A" & B' };
  const own = { 'sec-fetch-site': 'same-origin', ...english };
  await server.post('/session/end', { form_token: first.formToken }, { cookie: first.cookie });
  const over = await server.post('/act', typed, { cookie: first.cookie, ...own });
  expect([over.status, over.text.includes('load this page again')]).toEqual([401, true]);
  const { cookie, formToken } = await server.enter();
  for (const headers of [{ 'sec-fetch-site': 'same-site' }, { origin: 'null' }, { origin: 'http://a.b' }]) {
    const { status, text } = await server.post('/act', typed, { cookie, ...headers });
    expect([status, text.includes('committee')]).toEqual([403, false]);
  }
  const again = await server.post('/act', typed, { cookie, ...own });
  expect(again.status).toBe(403);
  const [form] = /<form method="post" action="\/act".*?<\/form>/s.exec(again.text)!;
  expect(form).toContain('name="what" value="committee &quot;A&quot; &amp; B"');
  expect([form.includes(formToken), form.includes(first.formToken), done]).toEqual([true, false, 0]);
});

test('--read-only refuses every action, and no service is asked', async () => {
  const readOnly = await ConsoleServer.open({ settings: { readOnly: true }, service: UNREACHABLE });
  try {
    const { cookie, formToken } = await readOnly.enter();
    expect(actions.length).toBeGreaterThan(0);
    for (const { path } of actions) {
      const answer = await readOnly.post(path, { form_token: formToken }, { cookie, ...english });
      expect([path, answer.status]).toEqual([path, 403]);
      expect(answer.text).toContain('--read-only');
    }
    expect(readOnly.logger.lines.filter(({ level }) => level === 'error')).toEqual([]);
  } finally {
    await readOnly.close();
  }
});

describe('the name that a browser asks for', () => {
  test.each(['evil.example', 'evil.example:80', '127.0.0.1.evil.example', '0.0.0.0', '192.0.2.1'])(
    '%s is not answered to',
    async (host) => {
      expect((await server.ask('/', { headers: { host } })).status).toBe(421);
    },
  );
  test.each(['localhost', 'LOCALHOST:9000', '127.0.0.1', '127.0.0.1:9000', '[::1]:9000'])(
    '%s is one of this machine, whatever port a tunnel gave it',
    async (host) => {
      expect((await server.ask('/', { headers: { host } })).status).toBe(401);
    },
  );
});

describe('an answer', () => {
  test('holds the browser to a policy, a refusal too', async () => {
    const { cookie } = await server.enter();
    for (const path of ['/', '/nowhere', '/broken', '/assets/htmx.js']) {
      const { headers } = await server.ask(path, { headers: { cookie } });
      expect(headers['content-security-policy']).toContain("default-src 'none'; script-src 'self'");
      expect(headers['content-security-policy']).not.toContain('unsafe');
      expect(headers['x-content-type-options']).toBe('nosniff');
      expect(headers['cross-origin-resource-policy']).toBe('same-origin');
    }
  });

  test('escapes what it shows', async () => {
    const { cookie } = await server.enter();
    const { text } = await server.ask('/', { headers: { cookie } });
    expect(text).toContain('<b>x</b> &lt;i>&amp;&quot;');
  });

  test('says what to do after a failure, and nothing of the inside', async () => {
    const { cookie } = await server.enter();
    const { status, text } = await server.ask('/broken', { headers: { cookie, 'accept-language': 'pt' } });
    expect([status, text.includes('Tente de novo'), text.includes('secret')]).toEqual([500, true, false]);
  });

  test('tells a refusal of the rules in the language of the person', async () => {
    const { cookie } = await server.enter();
    const told = async (path: string, language: string) =>
      (await server.ask(path, { headers: { cookie, 'hx-request': 'true', 'accept-language': language } }))
        .text;
    expect(await told('/refused/operation_invalid_state', 'pt')).toContain(
      'A situação atual da operação não permite',
    );
    expect(await told('/refused/operation_invalid_state', 'en')).toContain('&lt;b>the rule');
    expect(await told('/refused/invalid_date', 'pt')).toContain('A data não é aceita. (&lt;b>the rule');
    expect(await told('/refused/of_a_later_version', 'pt')).toContain('&lt;b>the rule');
  });

  test('is a part for htmx, so that a refusal is shown where the answer would be', async () => {
    const { cookie } = await server.enter();
    const { text, headers } = await server.ask('/nowhere', {
      headers: { cookie, 'hx-request': 'true', ...english },
    });
    // The element that waits for the answer stays, for the next one.
    expect(headers['hx-reswap']).toBe('innerHTML');
    expect(text).toBe(
      '<p class="problem" role="alert">There is no such page. Choose one of the pages above.</p>',
    );
    // In the place of what a form asked for, which the next change must not put back.
    const target = { cookie, 'hx-request': 'true', 'hx-target': 'section#verification', ...english };
    const posted = await server.ask('/nowhere', { method: 'POST', headers: target });
    expect(posted.headers['hx-reswap']).toBe('outerHTML');
    expect(posted.text).toBe(`<div id="verification">${text}</div>`);
  });

  test('that is a file runs nothing, and its name stays in the header', async () => {
    const { cookie } = await server.enter();
    const { headers, text } = await server.ask('/file', { headers: { cookie } });
    expect(text).toBe('%PDF-1.4');
    expect(headers['content-disposition']).toBe(
      `inline; filename="a _b_c.pdf"; filename*=UTF-8''a%20%22b%22c.pdf`,
    );
    const policy = headers['content-security-policy'];
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("form-action 'none'");
    expect(policy).toContain("frame-ancestors 'self'");
    expect(policy).not.toMatch(/script-src|sandbox/);
  });

  test.each(['evil.html', 'evil.svg', 'evil.xhtml', 'evil', 'evil.\u202efdp.htm'])(
    'that is a file has the type of its content, whatever a name like %j says',
    async (name) => {
      const { cookie } = await server.enter();
      const { headers } = await server.ask(`/file?${new URLSearchParams({ name }).toString()}`, {
        headers: { cookie },
      });
      expect([headers['content-type'], headers['x-content-type-options']]).toEqual([
        'application/pdf',
        'nosniff',
      ]);
      expect(headers['content-disposition']).not.toMatch(/[^ -~]|%E2%80%AE/);
    },
  );

  test('that is a file of another type is saved, and runs in a sandbox if it is not', async () => {
    const { cookie } = await server.enter();
    const { headers } = await server.ask('/file?type=application/octet-stream', { headers: { cookie } });
    expect(headers['content-disposition']).toMatch(/^attachment; /);
    expect(headers['content-security-policy']).toMatch(/form-action 'none'.*; sandbox$/);
  });
});

describe('a redirect', () => {
  const hostile = [
    '//evil.example/',
    '//evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    '/./\t/evil.example',
  ];

  test.each([
    ...hostile,
    ...[
      '/.//evil.example',
      '/x/..//evil.example',
      'http:evil.example',
      'http://evil.example/',
      'javascript:1',
    ],
    ...['\u0001//evil.example', '/\n/evil.example', 'http://console//evil.example', 'http://'],
  ])('to %j stays here', async (to) => {
    const { cookie } = await server.enter();
    const { status, headers } = await server.ask(`/elsewhere?${new URLSearchParams({ to }).toString()}`, {
      headers: { cookie },
    });
    const { location } = headers;
    expect([status, new URL(location!, server.origin).origin]).toEqual([303, server.origin]);
    expect(location).toMatch(/^\/(?![/\\])/);
  });

  test('leads where it should', async () => {
    const { cookie } = await server.enter();
    const to = '/operations/app-1/a%2Fb?x=%2F%2Fy&z=1#part';
    const { headers } = await server.ask(`/elsewhere?${new URLSearchParams({ to }).toString()}`, {
      headers: { cookie },
    });
    expect(headers.location).toBe(to);
  });

  test.each([
    ['/decisions?fund=1', '/decisions?fund=1'],
    ['//evil.example/', '/'],
    ['//evil.example/../..', '/'],
    ['/.//evil.example', '/'],
    ['/\\evil.example', '/'],
    ['/%2F/evil.example', '/%2F/evil.example'],
  ])('of the language button, from %j, leads to %j', async (from, to) => {
    const { cookie, formToken } = await server.enter();
    const { status, headers } = await server.post(
      '/session/language',
      { form_token: formToken, language: 'en' },
      { cookie, referer: `${server.origin}${from}` },
    );
    expect([status, headers.location]).toEqual([303, to]);
  });
});

describe('limits', () => {
  test('a form has at most a mebibyte', async () => {
    const { cookie, formToken } = await server.enter();
    const fields = { form_token: formToken, what: 'x'.repeat(1_048_577) };
    const { status, text } = await server.post('/act', fields, { cookie, ...english });
    expect([status, done, text.includes('The form is too large')]).toEqual([413, 0, true]);
  });

  test('more than 32 requests at once are put off, in a line of the log and not in one each', async () => {
    const { cookie } = await server.enter();
    let putOff = 0;
    const waiting = Array.from({ length: 36 }, async () => {
      const answer = await server.ask('/slow', { headers: { cookie } });
      if (answer.status === 503) putOff += 1;
      if (putOff === 4) slow.resolve();
      return answer;
    });
    const statuses = (await Promise.all(waiting)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200).length).toBe(32);
    const said = server.logger.lines.filter(({ level }) => level === 'error' || level === 'warn');
    const reason = 'Too many requests at once. Try again in a moment.';
    expect(said).toEqual([
      {
        level: 'warn',
        fields: { kind: reason, reason, count: 1 },
        message: 'pages of the console were refused for now',
      },
    ]);
    expect((await server.ask('/', { headers: { cookie } })).status).toBe(200);
  });
});
