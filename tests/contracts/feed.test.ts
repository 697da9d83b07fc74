import { SqliteEventStore } from '../../infrastructure/sqlite/event-log/sqlite-event-store.ts';
import { openReadModel } from '../support/sql/temporary-database.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { describeFeedContract } from './feed-contract.ts';

describeFeedContract('SQLite', async () => {
  const { database, close } = await openReadModel();
  const log = await SqliteEventStore.open(temporaryDirectory());
  return { log, database, close: async () => void (await Promise.all([log.close(), close()])) };
});
