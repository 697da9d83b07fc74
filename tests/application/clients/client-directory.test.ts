import { beforeEach, describe, expect, test } from '@jest/globals';
import { ClientDirectory } from '../../../application/clients/client-directory.ts';
import { InMemoryClientRegistry } from '../../support/in-memory-client-registry.ts';

const FUND = '3f0c1e52-8a44-4b8e-9d64-0b7f6f1c2a10';
const clientOf = (clientId: string) => ({
  clientId,
  applicationId: 'app',
  name: 'Acme',
  rateLimitMultiplier: 1,
  createdAt: '2026-01-01T00:00:00.000Z',
  revokedAt: null,
  secretHash: 'hash',
});

describe('client directory', () => {
  let registry: InMemoryClientRegistry;
  let directory: ClientDirectory;
  let now = 0;
  beforeEach(async () => {
    registry = new InMemoryClientRegistry();
    await registry.create(clientOf('client_1'), [FUND]);
    directory = new ClientDirectory(registry, undefined, () => now);
  });

  test('knows a client, its application and its funds, and never the hash of its secret', async () => {
    expect(await directory.resolve('client_1')).toEqual({
      client: expect.not.objectContaining({ secretHash: expect.anything() }),
      application: { applicationId: 'app', fundIds: [FUND], rateLimitMultiplier: 1 },
    });
  });

  test('answers from memory, without waiting, for five seconds', async () => {
    const resolved = await directory.resolve('client_1');
    now += 4_999;
    expect(await directory.resolve('client_1')).toBe(resolved);
    expect(registry.lookups).toBe(1);
    now += 1;
    await directory.resolve('client_1');
    expect(registry.lookups).toBe(2);
  });

  test('a revoked client is gone five seconds later, counted from when the lookup began', async () => {
    const lookup = directory.resolve('client_1');
    now += 3_000;
    await lookup;
    await registry.revoke('client_1', '2026-01-02T00:00:00.000Z');
    now += 2_000;
    expect(await directory.resolve('client_1')).toBeUndefined();
  });

  test('a newly linked fund is seen five seconds later', async () => {
    await directory.resolve('client_1');
    await registry.create(clientOf('client_2'), ['9f0c1e52-8a44-4b8e-9d64-0b7f6f1c2a10']);
    now += 5_000;
    expect((await directory.resolve('client_1'))?.application.fundIds).toHaveLength(2);
  });

  test('looked up, it is what holds now, and stays so; an answer that was asked for before does not come back over it', async () => {
    const [OTHER, THIRD] = ['9f0c1e52-8a44-4b8e-9d64-0b7f6f1c2a10', '9f0c1e52-8a44-4b8e-9d64-0b7f6f1c2a11'];
    const linked = async (how: 'resolve' | 'lookUp') =>
      (await directory[how]('client_1'))?.application.fundIds;
    await directory.resolve('client_1');
    await registry.create(clientOf('client_2'), [OTHER]);
    expect(await linked('resolve')).toEqual([FUND]);
    expect(await linked('lookUp')).toEqual([FUND, OTHER]);
    expect(await linked('resolve')).toEqual([FUND, OTHER]);

    const held = Promise.withResolvers<undefined>();
    const find = registry.find.bind(registry);
    registry.find = async (clientId) => {
      const found = await find(clientId);
      await held.promise;
      return found;
    };
    const earlier = directory.lookUp('client_1');
    registry.find = find;
    await registry.create(clientOf('client_3'), [THIRD]);
    now += 1;
    expect(await linked('lookUp')).toHaveLength(3);
    registry.application = async () => ({ applicationId: 'app', fundIds: [], rateLimitMultiplier: 1 });
    held.resolve(undefined);
    await earlier;
    expect(await linked('resolve')).toHaveLength(3);
  });

  test('one lookup serves all who ask at once; an unknown client is remembered too', async () => {
    await Promise.all(Array.from({ length: 20 }, () => directory.resolve('client_1')));
    expect(registry.lookups).toBe(1);
    await Promise.all(Array.from({ length: 20 }, () => directory.resolve('nobody')));
    expect(await directory.resolve('nobody')).toBeUndefined();
    expect(registry.lookups).toBe(2);
  });

  test('a failed lookup is not remembered', async () => {
    registry.failure = new Error('store is away');
    await expect(directory.resolve('client_1')).rejects.toThrow('store is away');
    registry.failure = undefined;
    await expect(directory.resolve('client_1')).resolves.toBeDefined();
  });

  test('forgets the oldest of more than there is room for', async () => {
    directory = new ClientDirectory(registry, 1_000_000);
    await directory.resolve('client_1');
    for (let index = 0; index < 10_000; index += 500) {
      const ids = Array.from({ length: 500 }, (_, offset) => `nobody_${index + offset}`);
      await Promise.all(ids.map((id) => directory.resolve(id)));
    }
    const before = registry.lookups;
    await directory.resolve('nobody_9999');
    expect(registry.lookups).toBe(before);
  });
});
