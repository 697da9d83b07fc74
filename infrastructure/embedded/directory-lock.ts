import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { sqliteCode } from './event-log-connection.ts';

const FILE = 'in-use.db';
const SQLITE_BUSY = 5;

/** Somebody else has the data directory in a way that excludes ours. */
export class DirectoryInUseError extends Error {
  override readonly name = 'DirectoryInUseError';
}

export interface DirectoryLock {
  close(): Promise<void>;
}

const STATEMENTS = { shared: 'BEGIN; SELECT count(*) FROM sqlite_schema', alone: 'BEGIN EXCLUSIVE' };

/**
 * Says that the files of this directory are in use: by any number of processes, or by one alone. It is a lock of the operating
 * system on an empty file, so it ends with its process, however that ends; nothing has to be renewed or cleaned up.
 *
 * @throws DirectoryInUseError
 */
export const lockDirectory = (dataDir: string, how: keyof typeof STATEMENTS): DirectoryLock => {
  const db = new DatabaseSync(join(dataDir, FILE));
  try {
    db.exec(STATEMENTS[how]);
  } catch (error) {
    db.close();
    if (sqliteCode(error) !== SQLITE_BUSY) throw error;
    throw new DirectoryInUseError(
      how === 'alone'
        ? `${dataDir} is in use: stop the service and every command on it first`
        : `${dataDir} is being moved to other engines: wait for that, and use those`,
      { cause: error },
    );
  }
  return {
    close: async () => {
      if (db.isOpen) db.close();
    },
  };
};
