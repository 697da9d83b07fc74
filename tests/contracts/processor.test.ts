import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { PublicEvent } from '../../application/ports/event-bus.ts';
import type { ProcessorStore } from '../../application/processors/processor.ts';
import { relayToLanes, RelayQuarantine } from '../../application/publication/relay.ts';
import { fanOutTo } from '../../application/webhooks/fan-out.ts';
import { logOrder } from '../../infrastructure/composition/read-models.ts';
import { SqlCheckpointStore } from '../../application/coordination/stored-places.ts';
import type { SqlDatabase } from '../../application/sql/sql-database.ts';
import { DeliveryLog } from '../../application/webhooks/delivery-log.ts';
import { DeliveryQueue } from '../../application/webhooks/queue/delivery-queue.ts';
import { WebhookSubscriptions } from '../../application/webhooks/subscriptions.ts';
import { openServiceDatabase } from '../support/sql/temporary-database.ts';
import type { TemporaryDatabase } from '../support/sql/temporary-database.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { processorCases } from './processor-contract.ts';
import type { StoreUnderTest } from './processor-contract.ts';

import * as stores from './processor-stores.ts';

const T0 = '2026-01-15T12:00:00.000Z';

/** The lanes of one subscription, without a bus. */
const lanes = async (
  database: SqlDatabase,
): Promise<StoreUnderTest<PublicEvent> & { readonly checkpoints: SqlCheckpointStore }> => {
  const [clock, webhookId, applicationId] = [new ManualClock(), randomUUID(), randomUUID()];
  const subscriptions = new WebhookSubscriptions(database);
  const about = { url: 'https://r.example/', events: ['*'], fundIds: null, description: null };
  await subscriptions.add({ ...about, webhookId, applicationId, createdAt: T0, sealedSecret: 's' }, 20);
  const queue = new DeliveryQueue(database);
  const fanOut = fanOutTo({ subscriptions, queue, clock, order: logOrder, clockToleranceMs: 0 });
  const checkpoints = new SqlCheckpointStore(database, clock);
  const none = { subscription: undefined, events: undefined, translator: undefined } as never;
  const parts = { ...(none as object), checkpoints, quarantine: new RelayQuarantine(database) } as never;
  const store: ProcessorStore<PublicEvent> = relayToLanes(parts, fanOut).store;
  return {
    store,
    checkpoints,
    writeOf: ({ id: eventId, stream, revision }) => ({
      ...{ eventId, name: 'loan_received', applicationId, fundId: 'fund-1', code: stream },
      ...{ sequence: Number(revision), timestamp: T0, body: '{}' },
    }),
    stored: async () => {
      const { deliveries } = await new DeliveryLog(database).list({ webhookId, limit: 100 });
      return deliveries.map(({ eventId }) => eventId);
    },
  };
};

describe('the promises of a processor', () => {
  test.each(processorCases)('are kept in memory: $name', ({ check }) => check(new stores.MemoryStore()));

  describe('in the lanes', () => {
    let temporary: TemporaryDatabase;
    beforeEach(async () => {
      temporary = await openServiceDatabase();
    });
    afterEach(() => temporary.close());

    test.each(processorCases)('are kept: $name', async ({ check }) => check(await lanes(temporary.database)));

    test('a batch and its place are one transaction; a place moved by another takes both back', async () => {
      const counted: number[] = [];
      const database: SqlDatabase = new Proxy(temporary.database, {
        get: (target, name) => {
          if (name === 'transaction')
            return (...call: Parameters<SqlDatabase['transaction']>) => {
              counted.push(call[0].length);
              return target.transaction(...call);
            };
          const value: unknown = Reflect.get(target, name, target);
          return typeof value === 'function' ? (value.bind(target) as unknown) : value;
        },
      });
      const { store, writeOf, stored, checkpoints } = await lanes(database);
      const event = { stream: 'loan-a.1', revision: 0n };
      const writes = [randomUUID(), randomUUID()].map((id) => writeOf({ ...event, id } as never));
      const commit = { writes, holds: [], live: true, from: 'start', to: '2' as never } as const;
      counted.splice(0);
      expect(await store.commit(commit)).toBe(true);
      expect(counted).toHaveLength(1);
      await checkpoints.move('outbox-relay', '2' as never, '3' as never);
      const other = [writeOf({ ...event, id: randomUUID() } as never)];
      expect(await store.commit({ ...commit, writes: other, from: '2' as never, to: '4' as never })).toBe(
        false,
      );
      expect(await stored()).toHaveLength(2);
      expect((await store.load()).place).toBe('3');
    });
  });
});

/** Each flaw with a case that must find it out. */
const flaws = [
  ['takes writes from any place', stores.TakesAnyPlace, 'who is behind stores nothing'],
  ['forgets what waits', stores.ForgetsHolds, 'a stream with an event that cannot be handled'],
  ['says that it stored', stores.SaysStored, 'undisturbed'],
  ['stores the place before the writes', stores.PlaceBeforeWrites, 'undisturbed'],
  ['stores the writes before the place', stores.WritesBeforePlace, 'undisturbed'],
] as const;

test.each(flaws)('a store that %s is found out', async (_, Store, by) => {
  await expect(processorCases.find(({ name }) => name.startsWith(by))!.check(new Store())).rejects.toThrow();
});
