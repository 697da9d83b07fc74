import { SqlCheckpointStore } from '../../infrastructure/sql/checkpoint-store.ts';
import { openServiceDatabase } from '../infrastructure/sql/support/temporary-database.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { describeCheckpointStoreContract } from './checkpoint-store-contract.ts';

describeCheckpointStoreContract('SqlCheckpointStore on SQLite', async () => {
  const { database, close } = await openServiceDatabase();
  return { store: new SqlCheckpointStore(database, new ManualClock()), close };
});
