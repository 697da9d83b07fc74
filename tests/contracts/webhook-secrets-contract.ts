import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { StoreUnavailableError } from '../../application/ports/event-store.ts';
import type { KeyStore, WrappedTexts } from '../../application/coordination/key-store.ts';
import type { WebhookSubscriptions } from '../../application/webhooks/subscriptions.ts';

interface Stores {
  readonly secrets: WrappedTexts;
  readonly subscriptions: WebhookSubscriptions;
  readonly keys: KeyStore;
  close(): Promise<void>;
}

const CHECK = 'master-key:check';
const [OLD, NEW] = ['1', '2'].map((digit) => `w2.${digit.repeat(16)}.`) as [string, string];
const NOW = '2026-01-15T12:00:00.000Z';

const subscription = (sealedSecret: string) => ({
  ...{
    webhookId: randomUUID(),
    applicationId: randomUUID(),
    url: 'https://receiver.example/',
    events: ['*'],
  },
  ...{ fundIds: null, description: null, sealedSecret, createdAt: NOW },
});

export const describeWebhookSecretsContract = (adapter: string, open: () => Promise<Stores>): void => {
  describe(`${adapter} lets secrets of webhooks be wrapped anew`, () => {
    let stores: Stores;
    beforeAll(async () => {
      stores = await open();
      await stores.keys.putIfAbsent(CHECK, `${OLD}check`);
    });
    afterAll(() => stores.close());

    test('each once, page by page; removed ones have none', async () => {
      const { secrets, subscriptions } = stores;
      const some = Array.from({ length: 5 }, (_, i) => subscription(`${OLD}secret ${i}`));
      for (const one of some) expect(await subscriptions.add(one, 20)).toBe(true);
      await subscriptions.remove(some[0]!.applicationId, some[0]!.webhookId, NOW);
      const expected = some
        .slice(1)
        .map(({ webhookId: name, sealedSecret: wrapped }) => ({ name, wrapped }))
        .toSorted((a, b) => (a.name < b.name ? -1 : 1));
      const first = await secrets.page('', 3);
      expect([...first, ...(await secrets.page(first[2]!.name, 3))]).toEqual(expected);
      const changes = expected.map(({ name, wrapped }) => ({ name, from: wrapped, to: `${wrapped} anew` }));
      expect([await secrets.rewrap(changes), await secrets.rewrap(changes)]).toEqual([4, 0]);
    });

    test('one that the old master key wrapped is refused once the new one wraps, and nothing of it is stored', async () => {
      const { subscriptions, keys } = stores;
      const kept = subscription(`${OLD}secret`);
      await subscriptions.add(kept, 20);
      await keys.turn({ name: CHECK, from: `${OLD}check`, to: `${NEW}check` });
      const late = subscription(`${OLD}secret`);
      await expect(subscriptions.add(late, 20)).rejects.toThrow(StoreUnavailableError);
      const change = { sealedSecret: `${OLD}other` };
      const changed = subscriptions.update(kept.applicationId, kept.webhookId, change, NOW);
      await expect(changed).rejects.toThrow(StoreUnavailableError);
      expect(await subscriptions.find(late, late.webhookId)).toBeUndefined();
      expect(await subscriptions.add(subscription(`${NEW}secret`), 20)).toBe(true);
      expect(await subscriptions.add(subscription(`${NEW}secret`), 0)).toBe(false);
    });
  });
};
