import { beforeAll, describe, expect, test } from '@jest/globals';
import { scryptSync } from 'node:crypto';
import { BusyError } from '../../../application/ports/busy-error.ts';
import type { IssuedCredentials } from '../../../application/ports/client-credentials.ts';
import { ConcurrencyLimit } from '../../../infrastructure/security/concurrency-limit.ts';
import { RandomClientCredentials } from '../../../infrastructure/security/random-client-credentials.ts';
import { ScryptClientAuthenticator } from '../../../infrastructure/security/scrypt-client-authenticator.ts';
import { hashOfNobody, hashSecret, secretMatches } from '../../../infrastructure/security/secret-hash.ts';
import { InMemoryClientRegistry } from '../../support/in-memory-client-registry.ts';

const registry = new InMemoryClientRegistry();
let credentials: IssuedCredentials;
beforeAll(async () => {
  credentials = await new RandomClientCredentials().issue();
  const { clientId, secretHash } = credentials;
  const rest = {
    applicationId: 'app',
    name: 'Acme',
    rateLimitMultiplier: 2,
    createdAt: '2026-01-01T00:00:00.000Z',
  };
  await registry.create({ clientId, secretHash, ...rest, revokedAt: null }, []);
  await registry.create(
    { clientId: 'revoked', secretHash, ...rest, revokedAt: '2026-01-02T00:00:00.000Z' },
    [],
  );
});

describe('client credentials', () => {
  test('are unguessable, different every time, and safe in a header and a form', async () => {
    const other = await new RandomClientCredentials().issue();
    expect(credentials.clientId).toMatch(/^client_[\w-]{22}$/);
    expect(credentials.clientSecret).toMatch(/^rfs_[\w-]{43}$/);
    expect(other.clientId).not.toBe(credentials.clientId);
    expect(other.clientSecret).not.toBe(credentials.clientSecret);
    expect(credentials.secretHash).not.toContain(credentials.clientSecret);
  });

  test('a hash says how it was made', async () => {
    const hash = await hashSecret('secret');
    const [, , cost, salt = '', digest] = hash.split('$');
    expect(cost).toBe('ln=14,r=8,p=1');
    const expected = scryptSync('secret', Buffer.from(salt, 'base64url'), 32, { N: 2 ** 14, r: 8, p: 1 });
    expect(digest).toBe(expected.toString('base64url'));
  });

  test('hashes of another cost are still understood', async () => {
    const salt = Buffer.alloc(16, 9);
    const digest = scryptSync('secret', salt, 32, { N: 2 ** 10, r: 4, p: 2 }).toString('base64url');
    const hash = `$scrypt$ln=10,r=4,p=2$${salt.toString('base64url')}$${digest}`;
    expect(await secretMatches('secret', hash)).toBe(true);
    expect(await secretMatches('Secret', hash)).toBe(false);
  });

  test('the hash of nobody costs as much as a real one and matches nothing', async () => {
    const shape = (hash: string): string => hash.replace(/[\w-]{22}\$[\w-]{43}$/, 'salt$hash');
    expect(shape(hashOfNobody())).toBe(shape(credentials.secretHash));
    expect(await secretMatches('', hashOfNobody())).toBe(false);
  });
});

describe('client authentication', () => {
  test('knows a client by its secret, and never hands out the hash', async () => {
    const client = await new ScryptClientAuthenticator(registry).authenticate(
      credentials.clientId,
      credentials.clientSecret,
    );
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
  ])('%s gets the same answer after the same work', async (_, attempt) => {
    const [clientId = '', secret = ''] = attempt();
    let hashed = 0;
    const limit = new ConcurrencyLimit(1, 1);
    const counting = Object.assign(Object.create(limit) as ConcurrencyLimit, {
      run: <Result>(task: () => Promise<Result>) => {
        hashed += 1;
        return limit.run(task);
      },
    });
    expect(
      await new ScryptClientAuthenticator(registry, counting).authenticate(clientId, secret),
    ).toBeUndefined();
    expect(hashed).toBe(1);
  });

  test('a flood is bounded: some wait, the rest are told to come again', async () => {
    const authenticator = new ScryptClientAuthenticator(registry, new ConcurrencyLimit(2, 4));
    const flood = Array.from({ length: 40 }, () =>
      authenticator.authenticate(credentials.clientId, credentials.clientSecret),
    );
    const answers = await Promise.allSettled(flood);
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(6);
    for (const answer of answers) {
      if (answer.status === 'rejected') expect(answer.reason).toBeInstanceOf(BusyError);
    }
    await expect(
      authenticator.authenticate(credentials.clientId, credentials.clientSecret),
    ).resolves.toBeDefined();
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
