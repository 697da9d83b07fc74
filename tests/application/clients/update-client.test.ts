import { beforeEach, describe, expect, test } from '@jest/globals';
import type { ClientChanges } from '../../../application/clients/client-registry.ts';
import { Clients } from '../../../application/clients/clients.ts';
import { ALONE } from '../../support/application-parts.ts';
import { InMemoryClientRegistry } from '../../support/in-memory-client-registry.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const [FIRST, SECOND, THIRD] = ['1', '2', '3'].map((n) => `${n}f0c1e52-8a44-4b8e-9d64-0b7f6f1c2a10`) as [
  string,
  string,
  string,
];
const NOW = '2026-01-15T12:00:00.000Z';

describe('updating a client', () => {
  let registry: InMemoryClientRegistry;
  let update: (input: Partial<ClientChanges>, clientId?: string) => ReturnType<Clients['update']>;
  const client = (clientId: string, more: object = {}) => ({
    ...{ clientId, applicationId: 'acme', name: 'Acme', rateLimitMultiplier: 1, secretHash: 'hash' },
    ...{ createdAt: NOW, revokedAt: null },
    ...more,
  });
  beforeEach(async () => {
    registry = new InMemoryClientRegistry();
    await registry.create(client('client_1'), [FIRST, SECOND]);
    await registry.create(client('client_2', { onlyFundIds: [SECOND] }), []);
    const issue = () => Promise.reject(new Error('no client is made here'));
    const clients = new Clients({
      registry,
      issue,
      clock: new ManualClock(NOW),
      formats: ALONE,
      signingKeys: undefined as never,
    });
    update = (input, clientId = 'client_1') =>
      clients.update(clientId, { addFundIds: [], removeFundIds: [], ...input });
  });

  test('changes what is named and answers the client as it is then', async () => {
    const updated = await update({
      ...{ name: ' Acme S.A. ', rateLimitMultiplier: 3 },
      ...{ addFundIds: [THIRD], removeFundIds: [FIRST] },
    });
    expect(updated).toMatchObject({ name: 'Acme S.A.', rateLimitMultiplier: 3, fundIds: [SECOND, THIRD] });
    expect(await update({ addFundIds: [FIRST] })).toMatchObject({
      name: 'Acme S.A.',
      rateLimitMultiplier: 3,
    });
  });

  test('knows no stranger and no client that was revoked', async () => {
    expect(await update({ name: 'x' }, 'client_9')).toBeUndefined();
    await registry.revoke('client_1', NOW);
    expect(await update({ name: 'x' })).toBeUndefined();
  });

  test.each([
    [{ name: '' }, 'validation_error', '1 to 100 printable'],
    [{ rateLimitMultiplier: 0 }, 'validation_error', 'above 0 and at most 1000'],
    [{ rateLimitMultiplier: 1_001 }, 'validation_error', 'above 0 and at most 1000'],
    [{ removeFundIds: [THIRD] }, 'fund_not_allowed', 'is not linked'],
    [{ removeFundIds: [FIRST, SECOND] }, 'fund_not_allowed', 'at least one fund'],
    [{ removeFundIds: [SECOND] }, 'fund_not_allowed', 'client_2 is limited to fund'],
  ])('refuses %j and changes nothing', async (input, code, message) => {
    await expect(update(input)).rejects.toMatchObject({ code, message: expect.stringContaining(message) });
    expect((await registry.application('acme'))?.fundIds).toEqual([FIRST, SECOND]);
    expect(registry.clients.get('client_1')).toMatchObject({ name: 'Acme', rateLimitMultiplier: 1 });
  });
});
