import { afterAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { JWTPayload } from 'jose';
import { query } from '../../support/sql/temporary-database.ts';
import type { Agent } from '../../support/openid/agent.ts';
import { KEY_ID } from '../../support/openid/test-provider.ts';
import { AS_MARIA, MARIA, SignInWorld } from '../../support/openid/sign-in-world.ts';

const MIB = 1024 * 1024;
const MINUTE = 60_000;

// Each signs in at a provider, some of them often.
jest.setTimeout(120_000);

const world = await SignInWorld.open();
beforeEach(() => world.begin());
afterAll(() => world.close());

/** Up to the address with which the browser comes back, which is not asked for. */
const comingBack = async (agent: Agent): Promise<URL> =>
  (await agent.visit(`${world.origin}/session/start`, '/session/callback')).url;
const sessions = () => world.sessions.list();

describe('signing in', () => {
  test('leads to the provider and back to the page that was asked for, as the person whom it names', async () => {
    const agent = world.person();
    const refused = await agent.ask(`${world.origin}/operations/7?a=b`);
    expect(refused.status).toBe(401);
    const [, link] = /href="(\/session\/start[^"]*)"/.exec(refused.text) ?? [];
    const answer = await agent.visit(`${world.origin}${link!.replaceAll('&amp;', '&')}`);
    expect([answer.status, answer.url.href]).toEqual([200, `${world.origin}/operations/7?a=b`]);
    expect(await world.who(agent)).toEqual(AS_MARIA);
    expect(answer.text).toContain('href="/session/end"');
    expect(answer.text).not.toContain('action="/session/end"');
  });

  test('takes state, nonce and a challenge along, and brings the verifier back in a cookie of ten minutes', async () => {
    const agent = world.person();
    const { status, headers } = await agent.ask(`${world.origin}/session/start`);
    expect(status).toBe(303);
    const { searchParams } = new URL(headers.location!);
    expect(Object.fromEntries(searchParams)).toMatchObject({
      ...{ client_id: 'receivables-desk', response_type: 'code', code_challenge_method: 'S256' },
      redirect_uri: `${world.origin}/session/callback`,
      scope: 'openid profile email offline_access',
      ...Object.fromEntries(
        ['state', 'nonce', 'code_challenge'].map((name) => [name, expect.stringMatching(/.{43}/)]),
      ),
    });
    const { attributes } = agent.cookie('attempt')!;
    expect(attributes).toMatch(/^Max-Age=600; Path=\/; Expires=[^;]+; HttpOnly; SameSite=Lax$/);
    const back = await agent.ask(await comingBack(agent));
    // Not a redirect, which would take no strict cookie along.
    expect([back.status, agent.cookie('attempt')]).toEqual([200, undefined]);
    expect(agent.cookie('console')!.attributes).toBe('Path=/; HttpOnly; SameSite=Strict');
  });

  test.each(['client_secret_post', 'none'] as const)('goes to a provider that wants %s', async (method) => {
    const other = await SignInWorld.open('http://localhost:4201', method);
    try {
      const agent = await other.signedIn();
      expect(await other.who(agent)).toEqual(AS_MARIA);
      other.clock.advance(5 * MINUTE);
      expect(await other.who(agent)).toEqual(AS_MARIA);
    } finally {
      await other.close();
    }
  });

  test('leaves neither what the browser holds nor what the provider gave in the database', async () => {
    const agent = await world.signedIn();
    const rows = await world.database.database.read(query<object>('select * from desk_session'));
    const text = JSON.stringify(rows);
    const [session] = await sessions();
    expect(rows).toHaveLength(1);
    for (const secret of [agent.cookie('console')!.value, 'refresh', 'eyJ'])
      expect(text).not.toContain(secret);
    const holding = world.person();
    for (const value of [session!.id, String((rows[0] as Record<string, string>)['cookie_hash'])]) {
      const cookie = `receivables_console_4200=${value}`;
      expect((await holding.ask(`${world.origin}/`, { headers: { cookie } })).status).toBe(401);
    }
  });

  test('leads nowhere but to this console', async () => {
    for (const to of [
      '//evil.example/x',
      'https://evil.example/',
      '/\\evil.example',
      'javascript:alert(1)',
      '/session/end',
      '/x/../session/start',
      `/operations?${'x'.repeat(5_000)}`,
    ]) {
      const start = `${world.origin}/session/start?to=${encodeURIComponent(to)}`;
      const { url } = await world.person().visit(start);
      expect(url.href).toBe(`${world.origin}/`);
    }
  });

  test('a page that another site leads to is asked for once more, with the cookie that it did not take along', async () => {
    const agent = await world.signedIn();
    const { value } = agent.cookie('console')!;
    const elsewhere = world.person();
    const headers = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };
    const led = await elsewhere.ask(`${world.origin}/operations/7`, { headers });
    expect(led.text).toContain('content="0;url=/operations/7"');
    const cookie = `receivables_console_4200=${value}`;
    const shown = await elsewhere.ask(`${world.origin}/operations/7`, { headers: { cookie } });
    expect(shown.status).toBe(200);
  });
});

describe('nobody comes in', () => {
  const seconds = () => Math.floor(Date.now() / 1_000);
  test.each<[string, (claims: JWTPayload) => JWTPayload]>([
    ['that has expired', (claims) => ({ ...claims, exp: seconds() - 300 })],
    ['that holds later', (claims) => ({ ...claims, nbf: seconds() + 300 })],
    ['for another client', (claims) => ({ ...claims, aud: 'another' })],
    ['for several, meant for another', (claims) => ({ ...claims, aud: [String(claims.aud), 'b'], azp: 'b' })],
    ['of another sign-in', (claims) => ({ ...claims, nonce: 'another' })],
    ['of no sign-in', ({ nonce: _, ...claims }) => claims],
    ['of another provider', (claims) => ({ ...claims, iss: 'http://localhost:1' })],
    ['of nobody', ({ sub: _, ...claims }) => claims],
    ['of nobody who has a name', (claims) => ({ ...claims, sub: '' })],
    ['of somebody longer than a name can be', (claims) => ({ ...claims, sub: 'x'.repeat(256) })],
    ['of somebody who is read as another', (claims) => ({ ...claims, sub: '\u202eaira' })],
    ['of somebody whom PostgreSQL cannot store', (claims) => ({ ...claims, sub: 'maria\0' })],
  ])('with an ID token %s', async (_, forge) => {
    world.provider.forge = forge;
    const answer = await world.person().visit(`${world.origin}/session/start`);
    expect([answer.status, await sessions(), world.refusals.length]).toEqual([401, [], 1]);
    expect(answer.text).toContain('href="/session/start"');
  });

  test.each([
    ['a stranger signed', 'stranger'],
    ['nobody signed (alg: none)', 'nobody'],
    ['whoever knows the secret of the console signed (HS256)', 'secret'],
    ['was signed with the published key as if that were a secret (HS256)', 'published'],
  ] as const)('with an ID token that %s', async (_, signer) => {
    world.provider.signer = signer;
    const answer = await world.person().visit(`${world.origin}/session/start`);
    expect([answer.status, await sessions(), world.refusals.length]).toEqual([401, [], 1]);
    world.provider.signer = undefined;
    const agent = await world.signedIn();
    world.provider.signer = signer;
    world.clock.advance(5 * MINUTE);
    expect([await world.who(agent), world.refusals.length]).toEqual([401, 2]);
  });

  test('but where the clock of the provider is a little off', async () => {
    world.provider.forge = (claims) => ({ ...claims, exp: seconds() - 20, nbf: seconds() + 20 });
    expect(await world.who(await world.signedIn())).toEqual(AS_MARIA);
  });

  test('in a browser that somebody else sent back', async () => {
    const [attacker, victim] = [world.person(), world.person()];
    const back = await comingBack(attacker);
    expect((await victim.ask(back)).status).toBe(401);
    await comingBack(victim);
    expect((await victim.ask(back)).status).toBe(401);
    expect(await sessions()).toEqual([]);
  });

  test('twice with the same way back, whatever the browser kept', async () => {
    const agent = world.person();
    const back = await comingBack(agent);
    const kept = new Map(agent.cookies);
    expect((await agent.ask(back)).status).toBe(200);
    expect((await agent.ask(back)).status).toBe(401);
    for (const [name, cookie] of kept) agent.cookies.set(name, cookie);
    expect((await agent.ask(back)).status).toBe(401);
    expect(await sessions()).toHaveLength(1);
  });

  test('in the older one of two tabs, which leaves the newer one its way back', async () => {
    const agent = world.person();
    const [older, newer] = [await comingBack(agent), await comingBack(agent)];
    expect((await agent.ask(older)).status).toBe(401);
    expect((await agent.ask(newer)).status).toBe(200);
    expect(await world.who(agent)).toEqual(AS_MARIA);
  });

  test('more than ten minutes after it began', async () => {
    const [slow, quick] = [world.person(), world.person()];
    const [late, early] = [await comingBack(slow), await comingBack(quick)];
    world.clock.advance(10 * MINUTE - 1);
    expect((await quick.ask(early)).status).toBe(200);
    world.clock.advance(1);
    expect((await slow.ask(late)).status).toBe(401);
  });

  test.each([
    ['nothing', ''],
    ['a code alone', '?code=x'],
    ['another state', '?code=x&state=y'],
    ['an error alone', '?error=access_denied'],
    ['two states', '?state=a&state=b&code=c'],
    ['a code of 4,000 characters', `?code=${'x'.repeat(4_000)}`],
  ])('with %s to show for it', async (_, search) => {
    const agent = world.person();
    await agent.ask(`${world.origin}/session/start`);
    expect((await agent.ask(`${world.origin}/session/callback${search}`)).status).toBe(401);
    const cookie = 'receivables_console_attempt_4200=e30';
    const forged = await agent.ask(`${world.origin}/session/callback${search}`, { headers: { cookie } });
    expect([forged.status, await sessions()]).toEqual([401, []]);
  });

  test('whom the provider refuses, or where it does not know the console', async () => {
    const agent = world.person();
    const { headers } = await agent.ask(`${world.origin}/session/start`);
    const state = new URL(headers.location!).searchParams.get('state')!;
    const denied = new URLSearchParams({
      error: 'access_denied',
      state,
      iss: world.provider.issuer,
    }).toString();
    expect((await agent.ask(`${world.origin}/session/callback?${denied}`)).status).toBe(401);
    await world.openConsole({ clientSecret: 'another secret' });
    const answer = await world.person().visit(`${world.origin}/session/start`);
    expect([answer.status, await sessions()]).toEqual([401, []]);
    expect(world.refusals.join()).toMatch(/access_denied.*client id and secret/);
    expect(world.refusals.join()).not.toContain('another secret');
  });
});

describe('a provider that is away', () => {
  test.each(['cut', 'failing'] as const)('is told of (%s), and asked again by the next', async (away) => {
    world.provider.away = away;
    const agent = world.person();
    const answer = await agent.visit(`${world.origin}/session/start`);
    expect(answer.status).toBe(503);
    expect(answer.text).toContain('does not answer');
    world.provider.away = undefined;
    const back = await comingBack(agent);
    world.provider.away = away;
    expect((await agent.ask(back)).status).toBe(503);
    world.provider.away = undefined;
    await agent.visit(`${world.origin}/session/start`);
    expect(await world.who(agent)).toEqual(AS_MARIA);
  });

  test('keeps those who sign in waiting, and nobody who has', async () => {
    const maria = await world.signedIn();
    await world.openConsole();
    world.provider.away = 'silent';
    const starts = Array.from({ length: 40 }, () => world.person().ask(`${world.origin}/session/start`));
    expect((await Promise.any(starts)).status).toBe(503);
    expect(await world.who(maria)).toEqual(AS_MARIA);
    world.provider.endSilence();
    await Promise.allSettled(starts);
  });

  test('is one whose answer has no end, which is read no further than an answer can be', async () => {
    const agent = world.person();
    const back = await comingBack(agent);
    world.provider.away = 'endless';
    expect((await agent.ask(back)).status).toBe(503);
    expect((await agent.ask(`${world.origin}/session/start`)).status).toBe(503);
    // What lies in the buffers of both connections was sent, too.
    expect(world.provider.bytesSent).toBeLessThan(64 * MIB);
  });

  test.each([
    ['no address of a page to sign in at', { authorization_endpoint: null }],
    ['one that no browser should go to', { authorization_endpoint: 'javascript:alert(1)' }],
    ['an address for codes at which it is not', { token_endpoint: `http://127.0.0.1:1/token` }],
    ['none for codes', { token_endpoint: null }],
    ['none of its keys', { jwks_uri: null }],
  ])('is one that says %s, until it says otherwise', async (_, says) => {
    world.provider.says = says;
    const agent = world.person();
    const answer = await agent.visit(`${world.origin}/session/start`);
    expect([answer.status, world.refusals]).toEqual([503, []]);
    expect(answer.text).toContain('does not answer');
    world.provider.says = {};
    await agent.visit(`${world.origin}/session/start`);
    expect(await world.who(agent)).toEqual(AS_MARIA);
  });

  test('is not one that leaves out what it need not say', async () => {
    world.provider.says = { scopes_supported: null, token_endpoint_auth_methods_supported: null };
    expect(await world.who(await world.signedIn())).toEqual(AS_MARIA);
  });

  test.each(['another-name', KEY_ID])(
    'is not one that signs with another key than before (%s): nobody is put off, and no session ends',
    async (name) => {
      const before = await world.signedIn();
      world.provider.newKeyId = name;
      expect(await world.who(await world.signedIn())).toEqual(AS_MARIA);
      for (let passed = 0; passed < 2; passed += 1) {
        world.clock.advance(5 * MINUTE);
        expect(await world.who(before)).toEqual(AS_MARIA);
      }
    },
  );

  test.each(['another-name', KEY_ID])(
    'is not one that has signed with another key (%s) when a session is asked about first',
    async (name) => {
      const agent = await world.signedIn();
      world.provider.newKeyId = name;
      for (let passed = 0; passed < 2; passed += 1) {
        world.clock.advance(5 * MINUTE);
        expect(await world.who(agent)).toEqual(AS_MARIA);
      }
    },
  );

  test.each(['cut', 'failing'] as const)('changes nothing for who is signed in (%s)', async (away) => {
    const agent = await world.signedIn();
    world.provider.away = away;
    for (let passed = 0; passed < 3; passed += 1) {
      world.clock.advance(6 * MINUTE);
      expect(await world.who(agent)).toEqual(AS_MARIA);
    }
    world.provider.away = undefined;
    world.provider.people.delete('maria');
    expect(await world.who(agent)).toEqual(AS_MARIA);
    world.clock.advance(5 * MINUTE);
    expect(await world.who(agent)).toBe(401);
  });
});

describe('signing out', () => {
  test('ends the session here and leads to where the provider ends its own', async () => {
    const agent = await world.signedIn();
    const { value } = agent.cookie('console')!;
    const { status, headers } = await agent.ask(`${world.origin}/session/end`);
    const { origin, searchParams } = new URL(headers.location!);
    expect([status, origin]).toEqual([303, world.provider.issuer]);
    expect(Object.fromEntries(searchParams)).toMatchObject({
      post_logout_redirect_uri: `${world.origin}/session/ended`,
      client_id: 'receivables-desk',
      id_token_hint: expect.stringMatching(/^eyJ/),
    });
    expect([await sessions(), agent.cookie('console')]).toEqual([[], undefined]);
    const cookie = `receivables_console_4200=${value}`;
    expect((await agent.ask(`${world.origin}/`, { headers: { cookie } })).status).toBe(401);
    const ended = await agent.ask(`${world.origin}/session/ended`);
    expect([ended.status, ended.text.includes('href="/session/start"')]).toEqual([200, true]);
  });

  test('is nothing that another page can do', async () => {
    const agent = await world.signedIn();
    for (const site of ['cross-site', 'same-site']) {
      const headers = { 'sec-fetch-site': site };
      expect((await agent.ask(`${world.origin}/session/end`, { headers })).status).toBe(403);
    }
    expect(await world.who(agent)).toEqual(AS_MARIA);
  });

  test.each([{ a: 1 }, 'javascript:alert(1)'])('ends here where the provider ends at %j', async (ends) => {
    world.provider.says = { end_session_endpoint: ends };
    const agent = await world.signedIn();
    const { status, headers } = await agent.ask(`${world.origin}/session/end`);
    expect([status, headers.location]).toEqual([303, '/session/ended']);
    expect(await world.who(agent)).toBe(401);
  });

  test('works without the provider, and without a session', async () => {
    const agent = await world.signedIn();
    world.provider.away = 'cut';
    await world.openConsole();
    for (let time = 0; time < 2; time += 1) {
      const { headers } = await agent.ask(`${world.origin}/session/end`);
      expect(headers.location).toBe('/session/ended');
    }
    expect(await sessions()).toEqual([]);
  });
});

describe('who has no role', () => {
  test('is told whom to ask, on every page, in both languages', async () => {
    world.provider.people.set('maria', { ...MARIA, realm_access: { roles: ['other'] } });
    const agent = await world.signedIn();
    for (const path of ['/', '/operations/7', '/live', '/nothing-here', '/session/other']) {
      for (const [language, words] of [
        ['en', 'you have no role at this console. Ask'],
        ['pt-BR', 'não tem nenhum papel neste console. Peça'],
      ] as const) {
        const answer = await agent.ask(`${world.origin}${path}`, {
          headers: { 'accept-language': language },
        });
        expect([path, answer.status]).toEqual([path, 403]);
        expect(answer.text).toContain(words);
        expect(answer.text).not.toContain('aria-current');
      }
    }
    await agent.ask(`${world.origin}/session/end`);
    expect(await sessions()).toEqual([]);
  });
});
