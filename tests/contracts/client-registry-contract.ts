import { randomUUID } from 'node:crypto';
import { expect } from '@jest/globals';
import type { ClientRegistry, ClientWithSecret } from '../../application/clients/client-registry.ts';
import type { Promised } from './promises.ts';

const newClient = (overrides: Partial<ClientWithSecret> = {}): ClientWithSecret => ({
  clientId: randomUUID(),
  applicationId: randomUUID(),
  name: 'Originadora São João',
  rateLimitMultiplier: 1.5,
  createdAt: '2026-01-15T12:00:00.000Z',
  revokedAt: null,
  secretHash: 'scrypt$16384$8$1$c2FsdA$aGFzaA',
  ...overrides,
});
const [FUND_A, FUND_B, FUND_C] = ['a', 'b', 'c'].map(
  (letter) => `${letter.repeat(8)}-0000-4000-8000-000000000000`,
) as [string, string, string];

export const clientRegistryCases: readonly Promised<ClientRegistry>[] = [
  {
    name: 'a created client is found as it was, its secret included',
    check: async (registry) => {
      const client = newClient();
      await registry.create(client, [FUND_A]);
      expect(await registry.find(client.clientId)).toEqual(client);
    },
  },
  {
    name: 'nobody is found who was never created',
    check: async (registry) => {
      expect(await registry.find(randomUUID())).toBeUndefined();
      expect(await registry.application(randomUUID())).toBeUndefined();
      expect(await registry.revoke(randomUUID(), '2026-01-16T00:00:00.000Z')).toBe(false);
    },
  },
  {
    name: 'an application holds the funds of all its clients, each once',
    check: async (registry) => {
      const first = newClient();
      const second = newClient({ applicationId: first.applicationId });
      await registry.create(first, [FUND_B, FUND_A]);
      const created = await registry.create(second, [FUND_B, FUND_C]);
      const known = await registry.application(first.applicationId);
      expect(known?.applicationId).toBe(first.applicationId);
      for (const fundIds of [created, known?.fundIds])
        expect(fundIds?.toSorted()).toEqual([FUND_A, FUND_B, FUND_C]);
    },
  },
  {
    name: 'an application without funds is known by its client',
    check: async (registry) => {
      const client = newClient();
      expect(await registry.create(client, [])).toEqual([]);
      expect(await registry.application(client.applicationId)).toEqual({
        applicationId: client.applicationId,
        fundIds: [],
        rateLimitMultiplier: 1.5,
      });
    },
  },
  {
    name: 'the largest multiplier of an application counts, whichever of its clients has it, until that one is revoked',
    check: async (registry) => {
      const first = newClient();
      const { applicationId } = first;
      const [large, small] = [10, 0.5].map((rateLimitMultiplier) =>
        newClient({ applicationId, rateLimitMultiplier }),
      );
      for (const client of [first, large!, small!]) await registry.create(client, [FUND_A]);
      const multiplier = async () => (await registry.application(applicationId))?.rateLimitMultiplier;
      expect(await multiplier()).toBe(10);
      await registry.revoke(large!.clientId, '2026-01-16T00:00:00.000Z');
      expect(await multiplier()).toBe(1.5);
    },
  },
  {
    name: 'funds of one application are not those of another',
    check: async (registry) => {
      const [one, other] = [newClient(), newClient()];
      await registry.create(one, [FUND_A]);
      await registry.create(other, [FUND_B]);
      expect((await registry.application(one.applicationId))?.fundIds).toEqual([FUND_A]);
    },
  },
  {
    name: 'a client is revoked once, and stays known with the time of it',
    check: async (registry) => {
      const client = newClient();
      await registry.create(client, [FUND_A]);
      expect(await registry.revoke(client.clientId, '2026-01-16T00:00:00.000Z')).toBe(true);
      expect(await registry.revoke(client.clientId, '2026-01-17T00:00:00.000Z')).toBe(false);
      expect(await registry.find(client.clientId)).toEqual({
        ...client,
        revokedAt: '2026-01-16T00:00:00.000Z',
      });
      expect((await registry.application(client.applicationId))?.fundIds).toEqual([FUND_A]);
    },
  },
  {
    name: 'a change of a client and of the funds of its application is whole, and spares what it does not name',
    check: async (registry) => {
      const client = newClient();
      await registry.create(client, [FUND_A, FUND_B]);
      const funds = { addFundIds: [FUND_C], removeFundIds: [FUND_A] };
      expect(await registry.update(client.clientId, { name: 'Another', ...funds })).toBe(true);
      expect(await registry.find(client.clientId)).toEqual({ ...client, name: 'Another' });
      expect((await registry.application(client.applicationId))?.fundIds.toSorted()).toEqual([
        FUND_B,
        FUND_C,
      ]);
      const none = { addFundIds: [], removeFundIds: [] };
      expect(await registry.update(client.clientId, { rateLimitMultiplier: 9, ...none })).toBe(true);
      expect(await registry.find(client.clientId)).toEqual({
        ...client,
        name: 'Another',
        rateLimitMultiplier: 9,
      });
    },
  },
  {
    name: 'a revoked or unknown client changes nothing, its funds neither',
    check: async (registry) => {
      const client = newClient();
      await registry.create(client, [FUND_A]);
      await registry.revoke(client.clientId, '2026-01-16T00:00:00.000Z');
      const changes = { name: 'Another', addFundIds: [FUND_B], removeFundIds: [FUND_A] };
      expect(await registry.update(client.clientId, changes)).toBe(false);
      expect(await registry.update(randomUUID(), changes)).toBe(false);
      expect((await registry.application(client.applicationId))?.fundIds).toEqual([FUND_A]);
      expect((await registry.find(client.clientId))?.name).toBe(client.name);
    },
  },
  {
    name: 'a secret hash is replaced only while it is the one that was seen',
    check: async (registry) => {
      const client = newClient();
      await registry.create(client, [FUND_A]);
      expect(await registry.replaceSecretHash(client.clientId, 'another hash', 'new')).toBe(false);
      expect(await registry.find(client.clientId)).toEqual(client);
      expect(await registry.replaceSecretHash(client.clientId, client.secretHash, 'new')).toBe(true);
      expect(await registry.find(client.clientId)).toEqual({ ...client, secretHash: 'new' });
      expect(await registry.replaceSecretHash(client.clientId, client.secretHash, 'newer')).toBe(false);
      expect(await registry.replaceSecretHash(randomUUID(), client.secretHash, 'new')).toBe(false);
    },
  },
  {
    name: 'the limits of a client are found and listed as they were set',
    check: async (registry) => {
      const client = newClient({ scopes: ['loans:read', 'events'], onlyFundIds: [FUND_B, FUND_A] });
      await registry.create(client, [FUND_A, FUND_B, FUND_C]);
      expect(await registry.find(client.clientId)).toEqual(client);
      const listed = (await registry.list()).find(({ clientId }) => clientId === client.clientId);
      expect(listed).toMatchObject({ scopes: client.scopes, onlyFundIds: client.onlyFundIds });
    },
  },
  {
    name: 'the list shows every client with its funds, and never a secret',
    check: async (registry) => {
      const client = newClient({ rateLimitMultiplier: 4 });
      await registry.create(client, [FUND_A, FUND_B]);
      const { secretHash: _, ...shown } = client;
      const listed = (await registry.list()).find(({ clientId }) => clientId === client.clientId);
      expect({ ...listed, fundIds: listed?.fundIds.toSorted() }).toEqual({
        ...shown,
        fundIds: [FUND_A, FUND_B],
      });
    },
  },
];
