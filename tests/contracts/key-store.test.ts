import { SqlKeyStore } from '../../infrastructure/sql/key-store.ts';
import { openServiceDatabase } from '../infrastructure/sql/support/temporary-database.ts';
import { InMemoryKeyStore } from '../support/in-memory-key-store.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { describeKeyStoreContract } from './key-store-contract.ts';

describeKeyStoreContract('SqlKeyStore on SQLite', async () => {
  const { database, close } = await openServiceDatabase();
  return { store: new SqlKeyStore(database, new ManualClock()), close };
});

describeKeyStoreContract('InMemoryKeyStore', async () => ({
  store: new InMemoryKeyStore(),
  close: async () => undefined,
}));
