import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import { ClientDirectory } from '../../../../application/clients/client-directory.ts';
import { allows } from '../../../../application/clients/scopes.ts';
import { SCOPES } from '../../../../application/clients/scopes.ts';
import type { Scope } from '../../../../application/clients/scopes.ts';
import { DomainError } from '../../../../domain/shared/domain-error.ts';
import { callersBy } from '../../../../infrastructure/http/middleware/authentication.ts';
import type { OperationSpec } from '../../../../infrastructure/http/openapi/operation.ts';
import { JwtTokens } from '../../../../infrastructure/security/jwt-tokens.ts';
import { OPERATIONS } from '../../../../infrastructure/http/resources/endpoints.ts';
import { TokenSigningKeys } from '../../../../infrastructure/security/token-signing-keys.ts';
import { client, FUND, NOW, tokenFor } from '../../../support/http-fakes.ts';
import { loanForm, validLoanData } from '../../../support/http-requests.ts';
import { HttpWorld } from '../../../support/http-world.ts';
import { InMemoryClientRegistry } from '../../../support/in-memory-client-registry.ts';
import { InMemoryKeyStore, sealedKeys } from '../../../support/in-memory-key-store.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { RecordingLogger } from '../../../support/recording-logger.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const scoped = OPERATIONS.filter(({ access }) => SCOPES.some((scope) => scope === access));

const EVENT_ID = '0198c1de-7a00-7c1f-9b1e-3f2a4b5c6d7e';
const pathOf = ({ path }: OperationSpec): string =>
  path.replace('{event_id}', EVENT_ID).replaceAll(/\{\w+\}/g, 'X-1');
const contentTypeOf = ({ body }: OperationSpec): Record<string, string> =>
  body ? { 'content-type': `${body[0]?.mediaType}; boundary=b` } : {};

describe('scopes', () => {
  let world: HttpWorld;
  beforeAll(async () => {
    world = await HttpWorld.start();
  });
  afterAll(() => world.stop());

  const ask = async (spec: OperationSpec, scopes: readonly string[]) => {
    world.now += MINUTE;
    const auth = tokenFor('client-a', scopes);
    const headers = contentTypeOf(spec);
    const body = spec.body && { body: '' };
    return world.call(spec.method.toUpperCase(), pathOf(spec), { auth, headers, ...body });
  };

  test('there is an operation for each of them', () => {
    expect(new Set(scoped.map(({ access }) => access))).toEqual(new Set(SCOPES));
  });

  test('what may be done with the right to read, or without any, changes nothing', () => {
    const reading = OPERATIONS.filter(({ access }) => access === 'loans:read' || access === 'public');
    expect(new Set(reading.map(({ method }) => method))).toEqual(new Set(['get']));
  });

  test.each(scoped.map((spec) => [spec.id, spec] as const))(
    '%s asks for its own and for no other',
    async (_id, spec) => {
      const others = SCOPES.filter((scope) => !allows([scope], spec.access as Scope));
      const refused = await ask(spec, others);
      expect([refused.status, refused.body.error_code]).toEqual([403, 'insufficient_scope']);
      expect(refused.headers.get('www-authenticate')).toBe(
        `Bearer realm="receivables", error="insufficient_scope", scope="${spec.access}"`,
      );
      expect((await ask(spec, [spec.access])).status).not.toBe(403);
    },
  );
});

/** Real tokens, keys and directory; both clocks are moved by the test. */
const realWorld = async () => {
  const clock = new ManualClock(NOW);
  let monotonic = 0;
  const registry = new InMemoryClientRegistry();
  await registry.create({ ...client(), secretHash: 'unused' }, [FUND]);
  const keys = new TokenSigningKeys({
    store: sealedKeys(new InMemoryKeyStore()),
    clock,
    logger: new RecordingLogger(),
  });
  const address = 'http://localhost:3000';
  const tokens = new JwtTokens(keys, clock, {
    issuer: address,
    audience: address,
    environment: 'sandbox',
    cacheBytes: 100_000,
  });
  const directory = new ClientDirectory(registry, undefined, () => monotonic);
  const world = await HttpWorld.start({
    tokens,
    clients: directory,
    authenticator: { authenticate: async () => client() },
  });
  const wait = (milliseconds: number): void => {
    clock.advance(milliseconds);
    monotonic += milliseconds;
    world.now += milliseconds;
  };
  const fetchToken = async (): Promise<string> => {
    const form = { grant_type: 'client_credentials', client_id: 'client-a', client_secret: 'x' };
    const body = new URLSearchParams(form);
    return String((await world.call('POST', '/token', { auth: false, body })).body.access_token);
  };
  const read = (auth: string) => world.call('GET', '/loan/OP-1', { auth });
  return { world, clock, registry, keys, tokens, directory, wait, fetchToken, read };
};
type RealWorld = Awaited<ReturnType<typeof realWorld>>;

describe('revocation', () => {
  let real: RealWorld;
  beforeAll(async () => {
    real = await realWorld();
  });
  afterAll(() => real.world.stop());

  test('ends living tokens within ten seconds', async () => {
    const token = await real.fetchToken();
    expect((await real.read(token)).status).toBe(200);
    await real.registry.revoke('client-a', real.clock.now());
    real.wait(10 * SECOND);
    const { status, body, headers } = await real.read(token);
    expect([status, body.error_code]).toEqual([401, 'invalid_token']);
    expect(headers.get('www-authenticate')).toContain('error="invalid_token"');
  });
});

test('a fund that was linked a moment ago is not refused; one that is not linked is, with one try', async () => {
  const { world, registry, fetchToken } = await realWorld();
  const tried: (readonly string[])[] = [];
  const accept = world.behaviour.loans.assign;
  world.behaviour.loans.assign = (context, input) => {
    tried.push(context.fundIds);
    if (!context.fundIds.includes(input.fundId)) throw new DomainError('fund_not_allowed', 'is not linked');
    return accept(context, input);
  };
  const auth = await fetchToken();
  const OTHER = '9f0c1e52-8a44-4b8e-9d64-0b7f6f1c2a10';
  const body = () => loanForm({ ...validLoanData(), fund_id: OTHER });
  const assign = async () => (await world.call('POST', '/loan', { body: body(), auth })).status;
  expect([await assign(), tried]).toEqual([403, [[FUND]]]);
  await registry.update('client-a', { addFundIds: [OTHER], removeFundIds: [] });
  expect([await assign(), tried]).toEqual([201, [[FUND], [FUND], [FUND, OTHER]]]);
  await world.stop();
});

describe('rotation of the keys', () => {
  let real: RealWorld;
  beforeAll(async () => {
    real = await realWorld();
  });
  afterAll(() => real.world.stop());

  const kidOf = (token: string): string | undefined => decodeProtectedHeader(token).kid;
  const publishedKids = async (): Promise<readonly unknown[]> => {
    const { body } = await real.world.call('GET', '/.well-known/jwks.json', { auth: false });
    return body.keys.map(({ kid }: { kid: string }) => kid);
  };

  test('no request is refused on the way, and whoever checks tokens by the key set can follow', async () => {
    const before = await real.fetchToken();
    const { kid } = await real.keys.rotate();
    real.wait(6 * SECOND);
    expect(await publishedKids()).toEqual([kidOf(before), kid]);
    expect(kidOf(await real.fetchToken())).toBe(kidOf(before));

    real.wait(MINUTE);
    const after = await real.fetchToken();
    expect(kidOf(after)).toBe(kid);
    for (const token of [before, after]) expect((await real.read(token)).status).toBe(200);
    const keySet = createRemoteJWKSet(new URL(`${real.world.baseUrl}/.well-known/jwks.json`));
    for (const token of [before, after]) {
      const { payload } = await jwtVerify(token, keySet, { currentDate: new Date(real.clock.now()) });
      expect(payload.sub).toBe('client-a');
    }

    real.wait(70 * MINUTE);
    expect(await publishedKids()).toEqual([kid]);
    expect((await real.read(before)).body.error_code).toBe('token_expired');
  });
});

test('recognising a token that was seen before takes less than 60 microseconds of processor time, a small part of what its signature would', async () => {
  const real = await realWorld();
  const token = await real.fetchToken();
  const identify = callersBy(real.tokens, real.directory);
  const req = { headers: { authorization: `Bearer ${token}` } } as never;
  const rounds = 2_000;
  const batch = async (): Promise<number> => {
    const before = process.cpuUsage();
    for (let i = 0; i < rounds; i += 1) await identify(req);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / rounds;
  };
  // The machine may be busy with other things; the work itself is what the quickest batch took.
  let least = Infinity;
  for (let i = 0; i < 30 && least >= 60; i += 1) least = Math.min(least, await batch());
  expect(least).toBeLessThan(60);
  await real.world.stop();
});
