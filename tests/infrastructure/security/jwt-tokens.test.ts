import { describe, expect, test } from '@jest/globals';
import {
  SignJWT,
  createLocalJWKSet,
  decodeJwt,
  decodeProtectedHeader,
  generateKeyPair,
  jwtVerify,
} from 'jose';
import type { JSONWebKeySet } from 'jose';
import type { Client } from '../../../application/clients/client-registry.ts';
import { InvalidTokenError, TokenExpiredError } from '../../../application/clients/tokens.ts';
import { UnknownSigningKeyError } from '../../../application/clients/tokens.ts';
import { JwtTokens } from '../../../infrastructure/security/jwt-tokens.ts';
import {
  REVOKED_EVERYWHERE_AFTER_MS,
  TokenSigningKeys,
} from '../../../infrastructure/security/token-signing-keys.ts';
import { InMemoryKeyStore, sealedKeys } from '../../support/in-memory-key-store.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';

const settings = {
  issuer: 'https://auth.example',
  audience: 'https://api.example',
  environment: 'sandbox',
  cacheBytes: 100_000,
} as const;
const client: Client = {
  clientId: 'client_1',
  applicationId: 'app',
  name: 'Acme',
  rateLimitMultiplier: 1,
  createdAt: '2026-01-01T00:00:00.000Z',
  revokedAt: null,
};
const HOUR = 3_600_000;

/** One process of the service. */
const startProcess = (store = new InMemoryKeyStore(), clock = new ManualClock()) => {
  const logger = new RecordingLogger();
  const keys = new TokenSigningKeys({ store: sealedKeys(store), clock, logger });
  return { store, clock, keys, logger, tokens: new JwtTokens(keys, clock, settings) };
};
type Process = ReturnType<typeof startProcess>;

const kidOf = (token: string): string | undefined => decodeProtectedHeader(token).kid;
const tokenOf = async ({ tokens }: Process): Promise<string> => (await tokens.issue(client)).accessToken;
const publishedKids = async ({ tokens }: Process): Promise<unknown[]> =>
  (await tokens.jwks()).keys.map((key) => (key as { kid?: unknown }).kid);

describe('access tokens', () => {
  test('carry the agreed claims for one hour', async () => {
    const { tokens, clock } = startProcess();
    const issued = await tokens.issue(client);
    const now = Date.parse(clock.now()) / 1000;
    expect(issued).toMatchObject({ expiresIn: 3600, scope: 'loans:write loans:read webhooks' });
    expect(decodeJwt(issued.accessToken)).toEqual({
      iss: settings.issuer,
      sub: 'client_1',
      aud: settings.audience,
      iat: now,
      nbf: now,
      exp: now + 3600,
      jti: expect.stringMatching(/^[0-9a-f-]{36}$/),
      scope: issued.scope,
      env: 'sandbox',
    });
    expect(await tokens.verify(issued.accessToken)).toEqual({
      clientId: 'client_1',
      scopes: ['loans:write', 'loans:read', 'webhooks'],
      expiresAt: now + 3600,
    });
  });

  test('verify with nothing but the published key set, which holds no private part', async () => {
    const process = startProcess();
    const token = await tokenOf(process);
    const set = (await process.tokens.jwks()) as JSONWebKeySet;
    const currentDate = new Date(process.clock.now());
    const { protectedHeader } = await jwtVerify(token, createLocalJWKSet(set), { currentDate });
    expect(protectedHeader).toEqual({ alg: 'ES256', kid: set.keys[0]?.kid, typ: 'JWT' });
    expect(set.keys).toEqual([
      expect.objectContaining({ kty: 'EC', crv: 'P-256', use: 'sig', alg: 'ES256', x: expect.any(String) }),
    ]);
    expect(set.keys[0]).not.toHaveProperty('d');
  });

  test('expire, remembered or not, and say so', async () => {
    const process = startProcess();
    const token = await tokenOf(process);
    await process.tokens.verify(token);
    process.clock.advance(HOUR - 1000);
    await process.tokens.verify(token);
    process.clock.advance(7000);
    await expect(process.tokens.verify(token)).rejects.toThrow(TokenExpiredError);
    const other = startProcess(process.store, process.clock);
    await expect(other.tokens.verify(token)).rejects.toThrow(TokenExpiredError);
  });

  test('that were asked to be short end to the second, remembered or not', async () => {
    const process = startProcess();
    const { accessToken, expiresIn } = await process.tokens.issue(client, 2);
    expect(expiresIn).toBe(2);
    process.clock.advance(1_999);
    await process.tokens.verify(accessToken);
    process.clock.advance(1);
    await expect(process.tokens.verify(accessToken)).rejects.toThrow(TokenExpiredError);
    const other = startProcess(process.store, process.clock);
    await expect(other.tokens.verify(accessToken)).rejects.toThrow(TokenExpiredError);
  });

  test.each(['2026-01-15T11:59:57.000Z', '2026-01-15T11:59:00.000Z', '2026-01-14T12:00:00.000Z'])(
    'are good where the clock was set back to %s since they were made',
    async (now) => {
      const process = startProcess();
      const token = await tokenOf(process);
      const early = startProcess(process.store, new ManualClock(now));
      await expect(early.tokens.verify(token)).resolves.toMatchObject({ clientId: 'client_1' });
    },
  );

  test.each(['', 'a.b.c', 'x'.repeat(5000), '..', 'eyJhbGciOiJub25lIn0.e30.'])(
    '%#: garbage is invalid',
    async (text) => {
      await expect(startProcess().tokens.verify(text)).rejects.toThrow(InvalidTokenError);
    },
  );

  test('a changed payload or signature is invalid', async () => {
    const process = startProcess();
    const [header, payload, signature] = (await tokenOf(process)).split('.') as [string, string, string];
    const forged = Buffer.from(
      JSON.stringify({ ...decodeJwt(`${header}.${payload}.${signature}`), sub: 'other' }),
    );
    const changed = `${header}.${forged.toString('base64url')}.${signature}`;
    await expect(process.tokens.verify(changed)).rejects.toThrow(InvalidTokenError);
    const mirrored = `${header}.${payload}.${[...signature].reverse().join('')}`;
    await expect(process.tokens.verify(mirrored)).rejects.toThrow(InvalidTokenError);
  });

  test.each([
    ['issuer', 'it has another issuer; tokens for this service come from https://auth.example/token'],
    ['audience', 'it has another audience; this service is https://api.example'],
    ['environment', 'it is for another environment; this one is the sandbox'],
  ] as const)(
    'of another %s are invalid, and told so, also when their key is another one',
    async (what, reason) => {
      const process = startProcess();
      const others = { ...settings, [what]: what === 'environment' ? 'production' : 'https://other.example' };
      const other = new JwtTokens(process.keys, process.clock, others);
      const stranger = new JwtTokens(startProcess().keys, process.clock, others);
      for (const issuing of [other, stranger]) {
        const { accessToken } = await issuing.issue(client);
        await expect(process.tokens.verify(accessToken)).rejects.toEqual(new InvalidTokenError(reason));
      }
    },
  );

  test('the algorithm is pinned: no HMAC with the public key, no "none", no foreign key under our kid', async () => {
    const process = startProcess();
    const kid = kidOf(await tokenOf(process)) ?? '';
    const now = Date.parse(process.clock.now()) / 1000;
    const jwt = (alg: string) =>
      new SignJWT({ scope: 'loans:write', env: 'sandbox' })
        .setProtectedHeader({ alg, kid, typ: 'JWT' })
        .setIssuer(settings.issuer)
        .setAudience(settings.audience)
        .setSubject('client_1')
        .setIssuedAt(now)
        .setNotBefore(now)
        .setExpirationTime(now + 3600)
        .setJti('1');
    const publicText = new TextEncoder().encode(JSON.stringify((await process.tokens.jwks()).keys[0]));
    const foreign = await generateKeyPair('ES256');
    const forged = [await jwt('HS256').sign(publicText), await jwt('ES256').sign(foreign.privateKey)];
    for (const token of forged) await expect(process.tokens.verify(token)).rejects.toThrow(InvalidTokenError);
  });
});

describe('signing keys', () => {
  test('processes that start at once make one first key', async () => {
    const store = new InMemoryKeyStore();
    const processes = Array.from({ length: 6 }, () => startProcess(store));
    const tokens = await Promise.all(processes.map(tokenOf));
    expect(new Set(tokens.map(kidOf)).size).toBe(1);
    expect(store.keys.size).toBe(1);
    for (const token of tokens) {
      for (const { tokens: verifier } of processes) await verifier.verify(token);
    }
  });

  test('are sealed in the store', async () => {
    const process = startProcess();
    await tokenOf(process);
    const [kept] = process.store.keys.values();
    expect(kept?.wrapped).toMatch(/^v1\.[\w-]+$/);
  });

  test('a rotated key is published first, signs a minute later, and the old one retires after its last token', async () => {
    const process = startProcess();
    const other = startProcess(process.store, process.clock);
    const before = await tokenOf(other);
    const { kid: rotated } = await process.keys.rotate();

    process.clock.advance(6_000);
    expect(await publishedKids(other)).toEqual([kidOf(before), rotated]);
    expect(kidOf(await tokenOf(other))).toBe(kidOf(before));

    process.clock.advance(54_500);
    expect(kidOf(await tokenOf(other))).toBe(rotated);
    await other.tokens.verify(before);

    process.clock.advance(HOUR - 120_000);
    expect(await publishedKids(other)).toHaveLength(2);
    const lastOfOld = startProcess(process.store, process.clock);
    await lastOfOld.tokens.verify(before);

    process.clock.advance(HOUR);
    expect(await publishedKids(other)).toEqual([rotated]);
    expect(process.store.keys.size).toBe(1);
  });

  test('rotating at once in two processes makes one new key', async () => {
    const store = new InMemoryKeyStore();
    const [a, b] = [startProcess(store), startProcess(store)];
    await Promise.all([tokenOf(a), tokenOf(b)]);
    const [first, second] = await Promise.all([a.keys.rotate(), b.keys.rotate()]);
    expect(second).toEqual(first);
    expect(store.keys.size).toBe(2);
  });

  test('a key published by another process a moment ago is found at once', async () => {
    const process = startProcess();
    const other = startProcess(process.store, process.clock);
    await tokenOf(process);
    process.clock.advance(1_500);
    const { kid } = await other.keys.rotate();
    expect(await process.keys.find(kid)).toMatchObject({ kid });
  });

  test('a flood of tokens with unknown keys asks the store at most once a second', async () => {
    const process = startProcess();
    const foreign = await tokenOf(startProcess());
    await tokenOf(process);
    process.clock.advance(1_500);
    const before = process.store.calls.list;
    const flood = await Promise.allSettled(Array.from({ length: 50 }, () => process.tokens.verify(foreign)));
    expect(flood.every(({ status }) => status === 'rejected')).toBe(true);
    expect(process.store.calls.list - before).toBe(1);
  });

  test('known keys go on working while the store is away', async () => {
    const process = startProcess();
    const token = await tokenOf(process);
    process.store.failure = new Error('store is away');
    process.clock.advance(10_000);
    await process.tokens.verify(token);
    await process.tokens.verify(await tokenOf(process));
    expect(process.logger.lines.map(({ level }) => level)).toContain('warn');
    await expect(startProcess(process.store).tokens.issue(client)).rejects.toThrow('store is away');
  });

  test('a revoked key is refused here at once and elsewhere within five seconds, remembered tokens too', async () => {
    const process = startProcess();
    const other = startProcess(process.store, process.clock);
    const token = await tokenOf(process);
    await Promise.all([process.tokens.verify(token), other.tokens.verify(token)]);
    process.clock.advance(2_000);
    const { successor } = await process.keys.revoke(kidOf(token)!);

    await expect(process.tokens.verify(token)).rejects.toThrow(InvalidTokenError);
    expect(await publishedKids(process)).toEqual([successor]);
    expect(kidOf(await tokenOf(process))).toBe(successor);
    process.clock.advance(REVOKED_EVERYWHERE_AFTER_MS - 2_000);
    await expect(other.tokens.verify(token)).rejects.toThrow(InvalidTokenError);
    expect(await publishedKids(other)).toEqual([successor]);
    await other.tokens.verify(await tokenOf(process));
    await expect(process.keys.revoke(kidOf(token)!)).rejects.toThrow(UnknownSigningKeyError);
  });

  test('revoking a key that does not sign yet leaves the one that does', async () => {
    const process = startProcess();
    const token = await tokenOf(process);
    const { kid } = await process.keys.rotate();
    await process.keys.revoke(kid);
    process.clock.advance(61_000);
    await process.tokens.verify(token);
    const now = kidOf(await tokenOf(process));
    expect(now).not.toBe(kid);
    expect(await publishedKids(process)).not.toContain(kid);
  });

  test('revoking an old key keeps the one that signs', async () => {
    const process = startProcess();
    const old = await tokenOf(process);
    const { kid } = await process.keys.rotate();
    process.clock.advance(61_000);
    expect(await process.keys.revoke(kidOf(old)!)).toEqual({ kid: kidOf(old), successor: kid });
    expect(await publishedKids(process)).toEqual([kid]);
  });
});
