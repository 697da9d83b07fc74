import { beforeEach, describe, expect, test } from '@jest/globals';
import { CreateClient } from '../../../application/clients/create-client.ts';
import type { CreateClientInput } from '../../../application/clients/create-client.ts';
import { ListClients, RevokeClient } from '../../../application/clients/manage-clients.ts';
import { InMemoryClientRegistry } from '../../support/in-memory-client-registry.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { ALONE } from '../../support/application-parts.ts';

const FUND = '3f0c1e52-8a44-4b8e-9d64-0b7f6f1c2a10';
const OTHER_FUND = '9f0c1e52-8a44-4b8e-9d64-0b7f6f1c2a10';

describe('clients', () => {
  let registry: InMemoryClientRegistry;
  let createClient: CreateClient;
  let revokeClient: RevokeClient;
  beforeEach(() => {
    registry = new InMemoryClientRegistry();
    const clock = new ManualClock('2026-01-15T12:00:00.000Z');
    let number = 0;
    const credentials = {
      issue: async () => ({
        clientId: `client_${(number += 1)}`,
        clientSecret: 'secret',
        secretHash: 'hash',
      }),
    };
    createClient = new CreateClient({ registry, credentials, clock, formats: ALONE });
    revokeClient = new RevokeClient(registry, clock);
  });

  test('a new client gets an application of its own, and the secret is handed out but not kept', async () => {
    const created = await createClient.execute({
      name: ' Acme ',
      fundIds: [FUND.toUpperCase(), FUND, OTHER_FUND],
    });
    expect(created).toEqual({
      clientId: 'client_1',
      clientSecret: 'secret',
      applicationId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      fundIds: [FUND, OTHER_FUND],
    });
    expect(await registry.find('client_1')).toEqual({
      clientId: 'client_1',
      secretHash: 'hash',
      applicationId: created.applicationId,
      name: 'Acme',
      rateLimitMultiplier: 1,
      createdAt: '2026-01-15T12:00:00.000Z',
      revokedAt: null,
    });
  });

  test('a second client of an application brings its funds along', async () => {
    await createClient.execute({ name: 'First', fundIds: [FUND], applicationId: 'acme' });
    const second = await createClient.execute({
      name: 'Second',
      fundIds: [OTHER_FUND],
      applicationId: 'acme',
      rateLimitMultiplier: 2.5,
    });
    expect(second).toMatchObject({ applicationId: 'acme', fundIds: [FUND, OTHER_FUND] });
  });

  const valid: CreateClientInput = { name: 'Acme', fundIds: [FUND] };
  test.each<[string, CreateClientInput, RegExp]>([
    ['no name', { ...valid, name: '  ' }, /^name must be/],
    ['a name with control characters', { ...valid, name: 'a\nb' }, /^name must be/],
    ['a name too long', { ...valid, name: 'x'.repeat(101) }, /^name must be/],
    ['no fund', { ...valid, fundIds: [] }, /^at least one fund/],
    ['a fund that is no UUID', { ...valid, fundIds: [FUND, 'fund-1'] }, /^fund fund-1 is not a UUID/],
    ['an application id with a dot', { ...valid, applicationId: 'a.b' }, /^application must be/],
    ['no fund in a new application', { ...valid, fundIds: [], applicationId: 'new' }, /^at least one fund/],
    ['a scope that does not exist', { ...valid, scopes: ['loans'] }, /^scope loans does not exist/],
    ['a limit to no UUID', { ...valid, onlyFundIds: ['x'] }, /^only-fund x is not a UUID/],
    [
      'managing webhooks with a limit to funds',
      { ...valid, onlyFundIds: [FUND], scopes: ['webhooks'] },
      /cannot have the scope webhooks/,
    ],
    ['a multiplier of zero', { ...valid, rateLimitMultiplier: 0 }, /^rate limit multiplier/],
    ['a multiplier that is no number', { ...valid, rateLimitMultiplier: NaN }, /^rate limit multiplier/],
    ['a multiplier beyond measure', { ...valid, rateLimitMultiplier: 1001 }, /^rate limit multiplier/],
  ])('%s is refused and nothing is made', async (_, input, message) => {
    await expect(createClient.execute(input)).rejects.toMatchObject({
      code: 'validation_error',
      message: expect.stringMatching(message),
    });
    expect(registry.clients.size).toBe(0);
  });

  test('a limit to a fund that is not linked is refused, and nothing is made', async () => {
    const limited = { ...valid, applicationId: 'acme', onlyFundIds: [OTHER_FUND] };
    await expect(createClient.execute(limited)).rejects.toMatchObject({ code: 'fund_not_allowed' });
    expect(registry.clients.size).toBe(0);
    await createClient.execute({ ...valid, applicationId: 'acme', fundIds: [FUND, OTHER_FUND] });
    expect(await createClient.execute({ ...limited, fundIds: [] })).toMatchObject({
      fundIds: [FUND, OTHER_FUND],
      onlyFundIds: [OTHER_FUND],
    });
  });

  test('everything wrong is said at once', async () => {
    const input = { name: '', fundIds: ['x', 'y'] };
    await expect(createClient.execute(input)).rejects.toMatchObject({
      details: [{ field: 'name' }, { field: 'fund' }, { field: 'fund' }],
    });
  });

  test('a client is revoked once, and stays in the list', async () => {
    await createClient.execute(valid);
    expect(await revokeClient.execute('client_1')).toEqual({ revokedAt: '2026-01-15T12:00:00.000Z' });
    expect(await revokeClient.execute('client_1')).toBeUndefined();
    expect(await revokeClient.execute('nobody')).toBeUndefined();
    expect(await new ListClients(registry).execute()).toEqual([
      expect.objectContaining({
        clientId: 'client_1',
        revokedAt: '2026-01-15T12:00:00.000Z',
        fundIds: [FUND],
      }),
    ]);
  });
});
