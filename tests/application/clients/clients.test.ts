import { beforeEach, describe, expect, test } from '@jest/globals';
import { Clients } from '../../../application/clients/clients.ts';
import type { CreateClientInput } from '../../../application/clients/clients.ts';
import { InMemoryClientRegistry } from '../../support/in-memory-client-registry.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { ALONE } from '../../support/application-parts.ts';

const FUND = '3f0c1e52-8a44-4b8e-9d64-0b7f6f1c2a10';
const OTHER_FUND = '9f0c1e52-8a44-4b8e-9d64-0b7f6f1c2a10';

describe('clients', () => {
  let registry: InMemoryClientRegistry;
  let clients: Clients;
  beforeEach(() => {
    registry = new InMemoryClientRegistry();
    const clock = new ManualClock('2026-01-15T12:00:00.000Z');
    let number = 0;
    const issue = async () => ({
      clientId: `client_${(number += 1)}`,
      clientSecret: 'secret',
      secretHash: 'hash',
    });
    clients = new Clients({ registry, issue, clock, formats: ALONE, signingKeys: undefined as never });
  });

  test('a new client gets an application of its own, and the secret is handed out but not kept', async () => {
    const created = await clients.create({
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
    await clients.create({ name: 'First', fundIds: [FUND], applicationId: 'acme' });
    const second = await clients.create({
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
    await expect(clients.create(input)).rejects.toMatchObject({
      code: 'validation_error',
      message: expect.stringMatching(message),
    });
    expect(registry.clients.size).toBe(0);
  });

  test('a limit to a fund that is not linked is refused, and nothing is made', async () => {
    const limited = { ...valid, applicationId: 'acme', onlyFundIds: [OTHER_FUND] };
    await expect(clients.create(limited)).rejects.toMatchObject({ code: 'fund_not_allowed' });
    expect(registry.clients.size).toBe(0);
    await clients.create({ ...valid, applicationId: 'acme', fundIds: [FUND, OTHER_FUND] });
    expect(await clients.create({ ...limited, fundIds: [] })).toMatchObject({
      fundIds: [FUND, OTHER_FUND],
      onlyFundIds: [OTHER_FUND],
    });
  });

  test('everything wrong is said at once', async () => {
    const input = { name: '', fundIds: ['x', 'y'] };
    await expect(clients.create(input)).rejects.toMatchObject({
      details: [{ field: 'name' }, { field: 'fund' }, { field: 'fund' }],
    });
  });

  test('a client is revoked once, and stays in the list', async () => {
    await clients.create(valid);
    expect(await clients.revoke('client_1')).toEqual({ revokedAt: '2026-01-15T12:00:00.000Z' });
    expect(await clients.revoke('client_1')).toBeUndefined();
    expect(await clients.revoke('nobody')).toBeUndefined();
    expect(await clients.list()).toEqual([
      expect.objectContaining({
        clientId: 'client_1',
        revokedAt: '2026-01-15T12:00:00.000Z',
        fundIds: [FUND],
      }),
    ]);
  });
});
