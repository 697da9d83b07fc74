import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';

const ATTEMPTS = 50;
const PAUSE_MS = 100;

/**
 * Moves everything from the write-ahead log into the file and empties the log, so that no earlier version of a page is left in it.
 * @returns false when other connections used the log all the time; it is overwritten from its start soon after
 */
export const emptyWriteAheadLog = async (path: string): Promise<boolean> => {
  const database = new DatabaseSync(path);
  try {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      const result = database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get() as { readonly busy: number };
      if (result.busy === 0) return true;
      await wait(PAUSE_MS);
    }
    return false;
  } finally {
    database.close();
  }
};
