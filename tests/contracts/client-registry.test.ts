import { describe, expect, test } from '@jest/globals';
import { SqlClientRegistry } from '../../application/clients/client-registry.ts';
import { openServiceDatabase } from '../support/sql/temporary-database.ts';

describe('SqlClientRegistry', () => {
  const client = {
    clientId: 'client-1',
    applicationId: 'application-1',
    name: 'Originator',
    rateLimitMultiplier: 1,
    createdAt: '2026-01-15T12:00:00.000Z',
    revokedAt: null,
    secretHash: 'hash',
  };

  test('stores fund ids in lower case, and nothing at all of a client whose id is taken', async () => {
    const { database, close } = await openServiceDatabase();
    const registry = new SqlClientRegistry(database);
    await registry.create(client, ['ABCDEF00-0000-4000-8000-000000000000']);
    await expect(registry.create({ ...client, name: 'Impostor' }, ['other'])).rejects.toThrow('UNIQUE');
    expect(await registry.application('application-1')).toEqual({
      applicationId: 'application-1',
      fundIds: ['abcdef00-0000-4000-8000-000000000000'],
      rateLimitMultiplier: 1,
    });
    expect((await registry.find('client-1'))?.name).toBe('Originator');
    await close();
  });
});
