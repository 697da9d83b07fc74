import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { ConsoleServer } from '../../support/console-server.ts';
import { SignInWorld } from '../../support/openid/sign-in-world.ts';

const ORIGIN = 'https://desk.example';

// Each signs in at a provider, some of them often.
jest.setTimeout(120_000);

let world: SignInWorld;
beforeEach(async () => {
  world = await SignInWorld.open(ORIGIN);
});
afterEach(() => world.close());

test('behind a proxy with https, cookies are for https and this host alone', async () => {
  const agent = await world.signedIn();
  expect([...agent.cookies.keys()].filter((name) => name.startsWith('desk.example'))).toEqual([
    'desk.example __Host-receivables_console',
  ]);
  expect(agent.cookie('__Host-')!.attributes).toBe('Path=/; HttpOnly; Secure; SameSite=Strict');
  expect(await world.who(agent)).toEqual(['Maria Souza', expect.anything()]);
  const answer = await agent.ask(`${ORIGIN}/session/end`);
  expect(answer.headers['set-cookie']![0]).toMatch(/^__Host-receivables_console=; .*Path=\/.*Secure/);
});

test('it answers to its own name alone', async () => {
  for (const host of [
    'localhost',
    `127.0.0.1:${world.console.port}`,
    'desk.example:8443',
    'evil.example',
    '',
  ]) {
    const answer = await world.person().ask(`${ORIGIN}/session/start`, { headers: { host } });
    expect([host, answer.status >= 400 && answer.status < 500]).toEqual([host, true]);
  }
  const own = await world.person().ask(`${ORIGIN}/session/start`, { headers: { host: 'DESK.example' } });
  expect(own.status).toBe(303);
});

test('forms come from its own origin', async () => {
  const agent = await world.signedIn();
  const { text: token } = await agent.ask(`${ORIGIN}/session`);
  for (const [origin, status] of [
    [ORIGIN, 200],
    ['http://desk.example', 403],
    ['https://desk.example:8443', 403],
    ['https://evil.example', 403],
  ] as const) {
    const answer = await agent.ask(`${ORIGIN}/act`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', origin },
      body: new URLSearchParams({ form_token: token, what: 'x' }).toString(),
    });
    expect([origin, answer.status]).toEqual([origin, status]);
  }
});

test('there is no address that opens it with a token', async () => {
  for (const agent of [world.person(), await world.signedIn()])
    expect((await agent.ask(`${ORIGIN}/enter?token=x`)).status).toBe(404);
});

test('without sign-in, a token opens it there as well', async () => {
  const server = await ConsoleServer.open({ settings: { publicUrl: ORIGIN } });
  try {
    const path = `/enter?token=${server.sessions.issueToken()}`;
    expect((await server.ask(path)).status).toBe(421);
    const { status, headers } = await server.ask(path, { headers: { host: 'desk.example' } });
    expect([status, headers['set-cookie']]).toEqual([
      303,
      [
        expect.stringMatching(
          /^__Host-receivables_console=[^;]+; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
        ),
      ],
    ]);
    const cookie = headers['set-cookie']![0]!.split(';')[0]!;
    const asked = await server.ask('/session', { headers: { host: 'desk.example', cookie } });
    expect(asked.status).toBe(200);
  } finally {
    await server.close();
  }
});
