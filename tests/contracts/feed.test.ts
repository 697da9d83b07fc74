import { SqliteEventStore } from '../../infrastructure/sqlite/event-log/sqlite-event-store.ts';
import { openReadModel } from '../support/sql/temporary-database.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { describeFeedContract } from './feed-contract.ts';

describeFeedContract('SQLite', async () => {
  const [directory, { database, close }] = await Promise.all([temporaryDirectory(), openReadModel()]);
  const log = await SqliteEventStore.open(directory.path);
  return {
    ...{ log, database },
    close: async () => {
      await Promise.all([log.close(), close()]);
      await directory.remove();
    },
  };
});
