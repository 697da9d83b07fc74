import { SqliteEventStore } from '../../../../infrastructure/sqlite/event-log/sqlite-event-store.ts';
import { describeEventStoreContract } from '../../../contracts/event-store-contract.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

describeEventStoreContract('SqliteEventStore', async () => {
  const store = await SqliteEventStore.open(temporaryDirectory());
  return { store, close: () => store.close() };
});
