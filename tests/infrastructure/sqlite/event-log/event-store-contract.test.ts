import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SqliteEventStore } from '../../../../infrastructure/sqlite/event-log/sqlite-event-store.ts';
import { describeEventStoreContract } from '../../../contracts/event-store-contract.ts';

describeEventStoreContract('SqliteEventStore', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'event-store-'));
  const store = await SqliteEventStore.open(dataDir);
  return {
    store,
    close: async () => {
      await store.close();
      await rm(dataDir, { recursive: true });
    },
  };
});
