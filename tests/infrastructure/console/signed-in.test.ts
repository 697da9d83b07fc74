import { request } from 'node:http';
import { afterAll, afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Agent } from '../../support/openid/agent.ts';
import { AS_MARIA, MARIA, SignInWorld } from '../../support/openid/sign-in-world.ts';

const MINUTE = 60_000;

// Each signs in at a provider, some of them often.
jest.setTimeout(120_000);

const world = await SignInWorld.open();
beforeEach(() => world.begin());
afterEach(() => void jest.restoreAllMocks());
afterAll(() => world.close());

const tokenRequests = (): number => world.provider.asked.filter((path) => path === '/token').length;
const formToken = async (agent: Agent): Promise<string> => {
  const { text } = await agent.ask(`${world.origin}/session`);
  return text;
};
const post = async (agent: Agent, path: string, fields: object, headers: object = {}) =>
  agent.ask(`${world.origin}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', origin: world.origin, ...headers },
    body: new URLSearchParams({ form_token: await formToken(agent), ...fields }).toString(),
  });

/** Everything that a stream of changes, or a file, says, once it has ended or was cut. */
const streamed = (
  agent: Agent,
  port: number,
  path = '/live',
): { readonly open: Promise<number>; readonly end: Promise<string> } => {
  const opened = Promise.withResolvers<number>();
  const ended = Promise.withResolvers<string>();
  const cookie = `receivables_console_4200=${agent.cookie('console')!.value}`;
  const headers = { host: 'localhost:4200', cookie };
  request({ host: '127.0.0.1', port, path, headers, agent: false }, (res) => {
    let text = '';
    opened.resolve(res.statusCode!);
    res.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    res.on('close', () => ended.resolve(text));
  })
    .on('error', () => ended.resolve('cut'))
    .end();
  return { open: opened.promise, end: ended.promise };
};

describe('a session', () => {
  test('has a line when it begins and when it is ended by its link, also where the provider was due to be asked', async () => {
    const agent = await world.signedIn();
    world.clock.advance(6 * MINUTE);
    await agent.ask(`${world.origin}/session/end`);
    const [{ id } = { id: '' }] = await world.sessions.list();
    expect(id).toBe('');
    const visitor = { way: 'console', name: 'Maria Souza', issuer: world.provider.issuer, subject: 'maria' };
    const lines = world.console.lines.filter(({ action }) => action !== 'viewed');
    expect(lines.map(({ action }) => action)).toEqual(['signed_in', 'signed_out']);
    expect(lines.map((line) => line.visitor)).toEqual([visitor, visitor]);
    expect(lines[1]!.session).toBe(lines[0]!.session);
  });

  test('ends when it was not used for half an hour; what a page fetches by itself does not use it', async () => {
    const agent = await world.signedIn();
    const unattended = () =>
      agent.ask(`${world.origin}/`, { headers: { 'x-unattended': '1' } }).then(({ status }) => status);
    world.clock.advance(29 * MINUTE);
    expect(await world.who(agent)).toEqual(AS_MARIA);
    world.clock.advance(29 * MINUTE);
    expect(await unattended()).toBe(200);
    world.clock.advance(MINUTE);
    expect(await unattended()).toBe(401);
    expect(await world.who(agent)).toBe(401);
  });

  test('ends after twelve hours, however it is used', async () => {
    const agent = await world.signedIn();
    for (let passed = 0; passed < 12 * 60 - 20; passed += 20) {
      world.clock.advance(20 * MINUTE);
      expect(await world.who(agent)).toEqual(AS_MARIA);
    }
    world.clock.advance(20 * MINUTE);
    expect(await world.who(agent)).toBe(401);
  });

  test('lasts an hour where the provider cannot be asked again', async () => {
    world.provider.givesRefreshTokens = false;
    const agent = await world.signedIn();
    const before = tokenRequests();
    world.provider.people.delete('maria');
    for (let passed = 0; passed < 40; passed += 20) {
      world.clock.advance(20 * MINUTE);
      expect(await world.who(agent)).toEqual(AS_MARIA);
    }
    world.clock.advance(20 * MINUTE);
    expect([await world.who(agent), tokenRequests()]).toEqual([401, before]);
  });

  test('goes on in a console that was started again, with its language', async () => {
    const agent = await world.signedIn();
    expect((await post(agent, '/session/language', { language: 'pt-BR' })).status).toBe(303);
    await world.console.close();
    await world.openConsole();
    expect(await world.who(agent)).toEqual(AS_MARIA);
    expect((await agent.ask(`${world.origin}/`)).text).toContain('<html lang="pt-BR">');
  });

  test('goes on in another console over the same database, and ends in both', async () => {
    const agent = await world.signedIn();
    const [first] = [world.console.port];
    const { port: second } = await world.openConsole();
    const token = await formToken(agent);
    for (const port of [first, second]) {
      world.places.set(world.origin, port);
      expect([await world.who(agent), await formToken(agent)]).toEqual([AS_MARIA, token]);
    }
    const { value } = agent.cookie('console')!;
    await agent.ask(`${world.origin}/session/end`);
    for (const port of [first, second]) {
      world.places.set(world.origin, port);
      const headers = { cookie: `receivables_console_4200=${value}` };
      expect((await agent.ask(`${world.origin}/`, { headers })).status).toBe(401);
    }
  });

  test('is none once the console is set to other people or roles', async () => {
    const agent = await world.signedIn();
    await world.openConsole({ configured: 'otherwise' });
    expect(await world.who(agent)).toBe(401);
  });

  test('of a person gives way to the newest of eight, and to nobody else’s', async () => {
    const other = await world.signedIn();
    world.provider.people.set('joao', { ...MARIA, name: 'João' });
    world.provider.next = 'joao';
    const agents: Agent[] = [];
    for (let count = 0; count < 9; count += 1) {
      world.clock.advance(1);
      agents.push(await world.signedIn());
    }
    expect(await world.who(agents[0]!)).toBe(401);
    for (const agent of agents.slice(1)) expect(await world.who(agent)).toEqual(['João', AS_MARIA[1]]);
    expect(await world.who(other)).toEqual(AS_MARIA);
  });

  test('takes forms of its own pages, in the name of its person', async () => {
    const agent = await world.signedIn();
    expect((await post(agent, '/act', { what: 'x' })).text).toBe('Maria Souza x');
    for (const headers of [
      { origin: 'http://localhost:4201' },
      { origin: 'https://localhost:4200' },
      { origin: 'null' },
      { 'sec-fetch-site': 'same-site' },
    ])
      expect((await post(agent, '/act', { what: 'x' }, headers)).status).toBe(403);
    expect((await post(agent, '/act', { form_token: 'x' })).status).toBe(403);
    const stolen = await formToken(await world.signedIn());
    expect((await post(agent, '/act', { form_token: stolen })).status).toBe(403);
  });
});

describe('every five minutes the provider', () => {
  test('is asked, with what it gave last', async () => {
    const agent = await world.signedIn();
    const before = tokenRequests();
    world.clock.advance(5 * MINUTE - 1);
    expect([await world.who(agent), tokenRequests()]).toEqual([AS_MARIA, before]);
    for (let times = 1; times <= 3; times += 1) {
      world.clock.advance(5 * MINUTE);
      expect([await world.who(agent), tokenRequests()]).toEqual([AS_MARIA, before + times]);
    }
  });

  test('is asked once by requests that come together, to two consoles', async () => {
    const agent = await world.signedIn();
    const first = world.console.port;
    const { port: second } = await world.openConsole();
    const before = tokenRequests();
    world.clock.advance(5 * MINUTE);
    const all = Array.from({ length: 10 }, (_, index) => {
      world.places.set(world.origin, index % 2 === 0 ? first : second);
      return world.who(agent);
    });
    for (const who of await Promise.all(all)) expect(who).toEqual(AS_MARIA);
    expect(tokenRequests()).toBe(before + 1);
    world.clock.advance(5 * MINUTE);
    expect(await world.who(agent)).toEqual(AS_MARIA);
  });

  test('gives and takes roles at once', async () => {
    const agent = await world.signedIn();
    world.provider.people.set('maria', { name: 'Maria S.', realm_access: { roles: 'desk-check' } });
    expect(await world.who(agent)).toEqual(AS_MARIA);
    world.clock.advance(5 * MINUTE);
    expect(await world.who(agent)).toEqual(['Maria S.', [{ role: 'checker' }]]);
    world.provider.people.set('maria', { name: 'Maria S.' });
    world.clock.advance(5 * MINUTE);
    expect(await world.who(agent)).toBe(403);
    world.provider.people.set('maria', MARIA);
    world.clock.advance(5 * MINUTE);
    expect(await world.who(agent)).toEqual(AS_MARIA);
  });

  test('ends it by refusing, for good', async () => {
    const agent = await world.signedIn();
    world.provider.people.delete('maria');
    world.clock.advance(5 * MINUTE);
    expect([await world.who(agent), await world.sessions.list()]).toEqual([401, []]);
    world.provider.people.set('maria', MARIA);
    expect(await world.who(agent)).toBe(401);
    expect(world.refusals).toEqual([expect.stringContaining('invalid_grant')]);
  });

  test('ends it by speaking of somebody else, or without proof', async () => {
    const change = [{ sub: 'joao' }, { iss: 'http://localhost:1' }, { exp: 1 }, { aud: 'another' }];
    for (const claims of change) {
      world.provider.forge = undefined;
      const agent = await world.signedIn();
      world.provider.forge = (before) => ({ ...before, ...claims });
      world.clock.advance(5 * MINUTE);
      expect([claims, await world.who(agent)]).toEqual([claims, 401]);
    }
  });
});

test('who holds sixteen requests open is put off, and nobody else', async () => {
  const maria = await world.signedIn();
  const cookie = `receivables_console_4200=${maria.cookie('console')!.value}`;
  const headers = {
    ...{ host: 'localhost:4200', cookie, 'content-length': '1000' },
    'content-type': 'application/x-www-form-urlencoded',
  };
  const { port } = world.console;
  // Bodies that never come.
  const held = Array.from({ length: 16 }, () =>
    request({ host: '127.0.0.1', port, path: '/act', method: 'POST', headers, agent: false }).on(
      'error',
      () => undefined,
    ),
  );
  for (const one of held) one.flushHeaders();
  try {
    let status: unknown = 200;
    for (let tries = 0; status !== 503 && tries < 500; tries += 1) {
      status = await world.who(maria);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    expect(status).toBe(503);
    world.provider.people.set('joao', { ...MARIA, name: 'João' });
    world.provider.next = 'joao';
    expect(await world.who(await world.signedIn())).toEqual(['João', AS_MARIA[1]]);
  } finally {
    for (const one of held) one.destroy();
  }
  let back: unknown = 503;
  for (let tries = 0; back === 503 && tries < 500; tries += 1) back = await world.who(maria);
  expect(back).toEqual(AS_MARIA);
});

describe('a form that is on its way', () => {
  /** Its session was found, and its last byte has not left. */
  const begun = async () => {
    const agent = await world.signedIn();
    const body = new URLSearchParams({ form_token: await formToken(agent), what: 'x' }).toString();
    const answered = Promise.withResolvers<number>();
    const headers = {
      ...{ host: 'localhost:4200', origin: world.origin, 'content-length': body.length },
      cookie: `receivables_console_4200=${agent.cookie('console')!.value}`,
      'content-type': 'application/x-www-form-urlencoded',
    };
    const found = jest.spyOn(world.sessions, 'find');
    const { port } = world.console;
    const sending = request(
      { host: '127.0.0.1', port, path: '/act', method: 'POST', headers, agent: false },
      (res) => answered.resolve(res.resume().statusCode!),
    ).on('error', answered.reject);
    sending.write(body.slice(0, -1));
    while (found.mock.results.length === 0) await new Promise(setImmediate);
    await found.mock.results[0]!.value;
    return (): Promise<number> => {
      sending.end(body.slice(-1));
      return answered.promise;
    };
  };

  test('is taken in a session that goes on', async () => {
    const end = await begun();
    expect(await end()).toBe(200);
  });

  test('is refused when its session has ended by then', async () => {
    const end = await begun();
    const [session] = await world.sessions.list();
    await world.sessions.end(session!.id);
    expect(await end()).toBe(401);
  });

  test('is refused when its person has no role by then', async () => {
    const end = await begun();
    world.provider.people.set('maria', { name: 'Maria Souza' });
    world.clock.advance(5 * MINUTE);
    expect(await end()).toBe(403);
  });
});

describe('a file that is on its way', () => {
  const begun = async () => {
    const agent = await world.signedIn();
    const goOn = Promise.withResolvers<void>();
    world.file = (async function* () {
      yield 'first;';
      await goOn.promise;
      yield 'second;';
      yield 'third';
    })();
    const { open, end } = streamed(agent, world.console.port, '/file');
    expect(await open).toBe(200);
    return {
      rest: (later: number): Promise<string> => {
        world.clock.advance(later);
        goOn.resolve();
        return end;
      },
    };
  };

  test('reaches its end in a session that goes on as it was', async () => {
    const { rest } = await begun();
    world.provider.people.set('maria', { ...MARIA, name: 'Maria Lima' });
    expect(await rest(5 * MINUTE)).toBe('first;second;third');
  });

  test('is cut when its session has ended', async () => {
    const { rest } = await begun();
    const [session] = await world.sessions.list();
    expect(await world.sessions.end(session!.id)).toBe(true);
    expect(await rest(2_000)).toBe('first;');
  });

  test.each([['another role', ['desk-check']] as const, ['no role', []] as const])(
    'is cut when its person has %s',
    async (_, roles) => {
      const { rest } = await begun();
      world.provider.people.set('maria', { ...MARIA, realm_access: { roles } });
      expect(await rest(5 * MINUTE)).toBe('first;');
    },
  );

  test('is cut when the provider refuses its person', async () => {
    const { rest } = await begun();
    world.provider.people.delete('maria');
    expect(await rest(5 * MINUTE)).toBe('first;');
  });
});

describe('streams of changes', () => {
  test('end with the session, wherever that ends, and with the last role', async () => {
    const agent = await world.signedIn();
    const { open, end } = streamed(agent, world.console.port);
    expect(await open).toBe(200);
    const [session] = await world.sessions.list();
    expect(await world.sessions.end(session!.id)).toBe(true);
    expect(await end).toContain('event: ended');
    const next = await world.signedIn();
    const stream = streamed(next, world.console.port);
    expect(await stream.open).toBe(200);
    world.provider.people.set('maria', { name: 'Maria' });
    world.clock.advance(5 * MINUTE);
    expect(await stream.end).toContain('event: ended');
  });

  test('are sixteen a person', async () => {
    const { port } = world.console;
    const maria = await world.signedIn();
    for (let count = 0; count < 16; count += 1) expect(await streamed(maria, port).open).toBe(200);
    expect(await streamed(maria, port).open).toBe(503);
    expect(await streamed(await world.signedIn(), port).open).toBe(503);
    world.provider.people.set('joao', { ...MARIA, name: 'João' });
    world.provider.next = 'joao';
    expect(await streamed(await world.signedIn(), port).open).toBe(200);
  });
});
