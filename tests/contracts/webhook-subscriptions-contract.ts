import { randomUUID } from 'node:crypto';
import { expect } from '@jest/globals';
import type { LogPosition } from '../../application/ports/event-store.ts';
import type { NewSubscription, WebhookSubscriptions } from '../../application/webhooks/subscriptions.ts';
import type { Promised } from './promises.ts';

const T0 = '2026-01-15T12:00:00.000Z';
const T1 = '2026-01-15T12:00:01.000Z';

const subscription = (applicationId: string, overrides: Partial<NewSubscription> = {}): NewSubscription => ({
  webhookId: randomUUID(),
  applicationId,
  url: 'https://receiver.example/hooks?tenant=1',
  events: ['loan_received', 'webhook.ping'],
  fundIds: [randomUUID(), randomUUID()],
  description: 'ação ✓ "quoted"',
  sealedSecret: 'v1.sealed',
  createdAt: T0,
  eventsFrom: '2027-03-01T12:00:00.000Z',
  beginsAt: '9007199254740993/17' as LogPosition,
  ...overrides,
});

export const webhookSubscriptionsCases: readonly Promised<WebhookSubscriptions>[] = [
  {
    name: 'what was added is read back, without its secret',
    check: async (store) => {
      const applicationId = randomUUID();
      const added = subscription(applicationId);
      const { sealedSecret: _, ...visible } = added;
      expect(await store.add(added, 20)).toBe(true);
      const found = await store.find({ applicationId }, added.webhookId);
      expect(found).toEqual({
        ...visible,
        status: 'active',
        updatedAt: T0,
        lastSuccessAt: null,
        lastFailureAt: null,
        failingSince: null,
      });
      expect(JSON.stringify(found)).not.toContain(added.sealedSecret);
    },
  },
  {
    name: 'another application neither sees, changes nor removes it',
    check: async (store) => {
      const added = subscription(randomUUID());
      await store.add(added, 20);
      const other = randomUUID();
      expect(await store.find({ applicationId: other }, added.webhookId)).toBeUndefined();
      expect(await store.ofApplications([other])).toEqual([]);
      expect(
        await store.update(other, added.webhookId, { url: 'https://evil.example/' }, T1),
      ).toBeUndefined();
      expect(await store.remove(other, added.webhookId, T1)).toBe(false);
      expect(await store.find(added, added.webhookId)).toMatchObject({ url: added.url });
    },
  },
  {
    name: 'subscriptions of several applications come oldest first, and only theirs',
    check: async (store) => {
      const [one, two, three] = [randomUUID(), randomUUID(), randomUUID()];
      const instants = ['03', '01', '02'].map((second) => `2026-01-15T12:00:${second}.000Z`);
      const ids: string[] = [];
      for (const [index, applicationId] of [one, two, one].entries()) {
        const added = subscription(applicationId, { createdAt: instants[index]! });
        ids.push(added.webhookId);
        await store.add(added, 20);
      }
      await store.add(subscription(three), 20);
      const listed = await store.ofApplications([one, two]);
      expect(listed.map(({ webhookId }) => webhookId)).toEqual([ids[1], ids[2], ids[0]]);
      expect(await store.ofApplications([])).toEqual([]);
    },
  },
  {
    name: 'a change changes what it names and nothing else',
    check: async (store) => {
      const added = subscription(randomUUID());
      await store.add(added, 20);
      const before = await store.find(added, added.webhookId);
      const change = { url: 'https://other.example/', events: ['*'] };
      const changed = await store.update(added.applicationId, added.webhookId, change, T1);
      expect(changed).toEqual({ ...before, ...change, updatedAt: T1 });
      const cleared = { fundIds: null, description: null, status: 'paused' } as const;
      expect(await store.update(added.applicationId, added.webhookId, cleared, T1)).toEqual({
        ...changed,
        ...cleared,
      });
      expect(await store.find(added, added.webhookId)).toEqual({ ...changed, ...cleared });
    },
  },
  {
    name: 'a removed one is gone at once, for every method, and frees its place',
    check: async (store) => {
      const applicationId = randomUUID();
      const added = subscription(applicationId);
      expect(await store.add(added, 1)).toBe(true);
      expect(await store.remove(applicationId, added.webhookId, T1)).toBe(true);
      expect(await store.remove(applicationId, added.webhookId, T1)).toBe(false);
      expect(await store.find({ applicationId }, added.webhookId)).toBeUndefined();
      expect(await store.ofApplications([applicationId])).toEqual([]);
      expect(await store.update(applicationId, added.webhookId, { status: 'active' }, T1)).toBeUndefined();
      expect(await store.add(subscription(applicationId), 1)).toBe(true);
    },
  },
  {
    name: 'of many added at once, no more than the limit are stored',
    check: async (store) => {
      const applicationId = randomUUID();
      const attempts = Array.from({ length: 25 }, () => store.add(subscription(applicationId), 20));
      const added = (await Promise.all(attempts)).filter(Boolean);
      expect(added).toHaveLength(20);
      expect(await store.ofApplications([applicationId])).toHaveLength(20);
      expect(await store.add(subscription(randomUUID()), 20)).toBe(true);
    },
  },
];
