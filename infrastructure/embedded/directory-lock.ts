import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { SQLITE_BUSY, sqliteCode } from '../sqlite/errors.ts';

const FILE = 'in-use.db';

/** Somebody else has the data directory in a way that excludes ours. */
export class DirectoryInUseError extends Error {
  override readonly name = 'DirectoryInUseError';
}

export interface DirectoryLock {
  close(): Promise<void>;
}

const STATEMENTS = { shared: 'BEGIN; SELECT count(*) FROM sqlite_schema', alone: 'BEGIN EXCLUSIVE' };

/** A lock of the operating system on an empty file. @throws DirectoryInUseError */
export const lockFile = (path: string, how: keyof typeof STATEMENTS): DirectoryLock => {
  const db = new DatabaseSync(path);
  try {
    db.exec(STATEMENTS[how]);
  } catch (error) {
    db.close();
    if (sqliteCode(error) !== SQLITE_BUSY) throw error;
    throw new DirectoryInUseError(`${path} is locked`, { cause: error });
  }
  return {
    close: async () => {
      if (db.isOpen) db.close();
    },
  };
};

/**
 * Says that the files of this directory are in use: by any number of processes, or by one alone. The lock ends with its process,
 * however that ends; nothing has to be renewed or cleaned up.
 *
 * @throws DirectoryInUseError
 */
export const lockDirectory = (dataDir: string, how: keyof typeof STATEMENTS): DirectoryLock => {
  try {
    return lockFile(join(dataDir, FILE), how);
  } catch (error) {
    if (!(error instanceof DirectoryInUseError)) throw error;
    throw new DirectoryInUseError(
      how === 'alone'
        ? `${dataDir} is in use: stop the service and every command on it first`
        : `${dataDir} is being moved to other engines: wait for that, and use those`,
      { cause: error },
    );
  }
};
