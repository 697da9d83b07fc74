import { beforeEach, describe, expect, test } from '@jest/globals';
import { createHmac, scryptSync } from 'node:crypto';
import { BusyError } from '../../../application/ports/busy-error.ts';
import {
  ConcurrencyLimit,
  HashedClientAuthenticator,
  issueCredentials,
  costlySecretMatches,
  unmatchableHash,
  hashSecret,
  isCostlyHash,
  secretMatches,
} from '../../../infrastructure/security/client-secrets.ts';
import { InMemoryClientRegistry } from '../../support/in-memory-client-registry.ts';
import { ALONE } from '../../support/application-parts.ts';
import { mainThreadCost } from '../../support/main-thread-cost.ts';

/** As earlier releases stored them. */
const scryptHash = (secret: string, logN = 14): string => {
  const salt = Buffer.alloc(16, 9);
  const digest = scryptSync(secret, salt, 32, { N: 2 ** logN, r: 8, p: 1, maxmem: 2 ** 26 });
  return `$scrypt$ln=${logN},r=8,p=1$${salt.toString('base64url')}$${digest.toString('base64url')}`;
};

const credentials = await issueCredentials(ALONE);
let registry: InMemoryClientRegistry;
let authenticator: HashedClientAuthenticator;

const add = (clientId: string, secretHash: string, revokedAt: string | null = null) =>
  registry.create(
    {
      clientId,
      secretHash,
      applicationId: 'app',
      name: 'Acme',
      rateLimitMultiplier: 2,
      createdAt: '2026-01-01T00:00:00.000Z',
      revokedAt,
    },
    [],
  );

beforeEach(async () => {
  registry = new InMemoryClientRegistry();
  authenticator = new HashedClientAuthenticator(registry, ALONE);
  await add(credentials.clientId, credentials.secretHash);
  await add('revoked', credentials.secretHash, '2026-01-02T00:00:00.000Z');
});

describe('client credentials', () => {
  test('are unguessable, different every time, and safe in a header and a form', async () => {
    const other = await issueCredentials(ALONE);
    expect(credentials.clientId).toMatch(/^client_[\w-]{22}$/);
    expect(credentials.clientSecret).toMatch(/^rfs_[\w-]{43}$/);
    expect(other.clientId).not.toBe(credentials.clientId);
    expect(other.clientSecret).not.toBe(credentials.clientSecret);
    expect(credentials.secretHash).not.toContain(credentials.clientSecret);
  });

  test('a hash is one step, salted, and says how it was made', () => {
    const [, kind, salt = '', digest] = hashSecret('secret').split('$');
    expect(kind).toBe('hmac-sha256');
    expect(Buffer.from(salt, 'base64url')).toHaveLength(16);
    const expected = createHmac('sha256', Buffer.from(salt, 'base64url'))
      .update('secret')
      .digest('base64url');
    expect(digest).toBe(expected);
    expect(hashSecret('secret')).not.toBe(hashSecret('secret'));
  });

  test('the hash of nobody looks like a real one and matches nothing', () => {
    const shape = (hash: string): string => hash.replace(/[\w-]{22}\$[\w-]{43}$/, 'salt$hash');
    expect(shape(unmatchableHash())).toBe(shape(credentials.secretHash));
    expect(secretMatches('', unmatchableHash())).toBe(false);
  });

  test('hashes of earlier releases are still understood, whatever they cost', async () => {
    const hash = scryptHash('secret', 10);
    expect([isCostlyHash(hash), isCostlyHash(hashSecret('secret'))]).toEqual([true, false]);
    expect(await costlySecretMatches('secret', hash)).toBe(true);
    expect(await costlySecretMatches('Secret', hash)).toBe(false);
    expect(() => secretMatches('secret', 'secret')).toThrow('not in a known format');
  });
});

describe('client authentication', () => {
  test('knows a client by its secret, and never hands out the hash', async () => {
    const client = await authenticator.authenticate(credentials.clientId, credentials.clientSecret);
    expect(client).toMatchObject({
      clientId: credentials.clientId,
      applicationId: 'app',
      rateLimitMultiplier: 2,
    });
    expect(client).not.toHaveProperty('secretHash');
  });

  test.each([
    ['a wrong secret', () => [credentials.clientId, 'rfs_wrong']],
    ['an empty secret', () => [credentials.clientId, '']],
    ['a huge secret', () => [credentials.clientId, credentials.clientSecret + 'x'.repeat(1_000_000)]],
    ['an unknown client', () => ['client_unknown', credentials.clientSecret]],
    ['a revoked client', () => ['revoked', credentials.clientSecret]],
  ])('%s gets the same answer', async (_, attempt) => {
    const [clientId = '', secret = ''] = attempt();
    expect(await authenticator.authenticate(clientId, secret)).toBeUndefined();
  });

  test('a thousand wrong secrets cost less than a hundred milliseconds of the processor', async () => {
    const wrongSecrets = () =>
      Promise.all(
        Array.from({ length: 1_000 }, (_, i) =>
          authenticator.authenticate(i % 2 === 0 ? credentials.clientId : 'nobody', 'rfs_wrong'),
        ),
      );
    expect(await mainThreadCost(wrongSecrets, 100)).toBeLessThan(100);
  });
});

describe('the costly hash of an earlier release', () => {
  const OLD = 'client_old';
  const held = (running: number, waiting: number) => new ConcurrencyLimit(running, waiting);

  test('is replaced at the first right use, and only then', async () => {
    const hash = scryptHash('right', 10);
    await add(OLD, hash);
    expect(await authenticator.authenticate(OLD, 'wrong')).toBeUndefined();
    expect(registry.clients.get(OLD)?.secretHash).toBe(hash);
    expect(await authenticator.authenticate(OLD, 'right')).toMatchObject({ clientId: OLD });
    expect(registry.clients.get(OLD)?.secretHash).toMatch(/^\$hmac-sha256\$/);
    expect(await authenticator.authenticate(OLD, 'right')).toMatchObject({ clientId: OLD });
    expect(await authenticator.authenticate(OLD, 'wrong')).toBeUndefined();
  });

  test('is still good when it could not be replaced', async () => {
    await add(OLD, scryptHash('right', 10));
    registry.replaceSecretHash = () => Promise.reject(new Error('the store is full'));
    expect(await authenticator.authenticate(OLD, 'right')).toMatchObject({ clientId: OLD });
  });

  test('a flood of wrong secrets for it is bounded, and neither today’s clients nor other old ones wait for it', async () => {
    await add(OLD, scryptHash('right'));
    await add('client_other', scryptHash('right', 10));
    authenticator = new HashedClientAuthenticator(registry, ALONE, held(1, 4));
    const order: string[] = [];
    const noting = async (name: string, attempt: Promise<unknown>): Promise<void> => {
      await attempt;
      order.push(name);
    };
    const flood = Array.from({ length: 40 }, () => authenticator.authenticate(OLD, 'wrong'));
    const flooded = Promise.allSettled(flood.map((attempt) => noting('flood', attempt)));
    await noting('today', authenticator.authenticate(credentials.clientId, credentials.clientSecret));
    await noting('other old', authenticator.authenticate('client_other', 'right'));
    const outcomes = await flooded;
    expect(order.indexOf('today')).toBe(0);
    // One comparison was under way, and no more of the flood stand in the line than one.
    expect(order.indexOf('other old')).toBeLessThanOrEqual(3);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(11);
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(BusyError);
    }
    await expect(authenticator.authenticate(OLD, 'right')).resolves.toBeDefined();
  });
});

describe('concurrency limit', () => {
  test('runs no more than allowed at once, in order, also after failures', async () => {
    const limit = new ConcurrencyLimit(2, 100);
    const started: number[] = [];
    let running = 0;
    let most = 0;
    const task = (number: number) => async () => {
      started.push(number);
      most = Math.max(most, (running += 1));
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      if (number % 3 === 0) throw new Error('failed');
    };
    const numbers = Array.from({ length: 20 }, (_, index) => index);
    await Promise.allSettled(numbers.map((number) => limit.run(task(number))));
    expect(started).toEqual(numbers);
    expect(most).toBe(2);
  });
});
