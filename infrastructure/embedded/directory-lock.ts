import { existsSync, readFileSync, statSync } from 'node:fs';
import { writeFile, readFile, rename, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { SQLITE_BUSY, sqliteCode, unusable } from '../sqlite/connection.ts';
import { giveToOwner, makeForOwner, naming, ifThere, sync, writeDurably } from '../support/durable-files.ts';
import { opening } from '../support/opening.ts';
import { pause } from '../support/time.ts';

const FILE = 'in-use.db';

/** Another process has the data directory in a way that excludes this one. */
export class DirectoryInUseError extends Error {
  override readonly name = 'DirectoryInUseError';
}

class DirectoryGoneError extends Error {
  override readonly name = 'DirectoryGoneError';

  constructor(dataDir: string) {
    super(
      `DATA_DIR ${dataDir} was removed or moved away while the service used it: put it back before the next start`,
    );
  }
}

export interface DirectoryLock {
  close(): Promise<void>;
}

const STATEMENTS = { shared: 'BEGIN; SELECT count(*) FROM sqlite_schema', alone: 'BEGIN EXCLUSIVE' };

const open = (path: string): DatabaseSync => {
  try {
    makeForOwner(path);
    return new DatabaseSync(path);
  } catch (error) {
    throw unusable(path, error);
  }
};

/** A lock of the operating system on an empty file; undefined where another process has it. */
export const lockFile = (path: string, how: keyof typeof STATEMENTS): DirectoryLock | undefined => {
  const db = open(path);
  try {
    db.exec(STATEMENTS[how]);
  } catch (error) {
    db.close();
    if (sqliteCode(error) === SQLITE_BUSY) return undefined;
    throw unusable(path, error);
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
  const lock = lockFile(join(dataDir, FILE), how);
  if (lock) return lock;
  throw new DirectoryInUseError(
    how === 'alone'
      ? `${dataDir} is in use: stop the service and every command on it first`
      : `${dataDir} is being moved to other engines: wait for that, and use those`,
  );
};

const LOCK_FILE = 'service-lock.db';
/** Says which process has the lock. Beside the lock, because a file that is locked cannot be read. */
const HOLDER_FILE = 'service.pid';
/** A service that is just stopping gets this long to end. */
const PATIENCE_MS = 2_000;
const LOOK_AGAIN_MS = 50;

const writeHolder = async (path: string): Promise<void> => {
  await naming(path, writeFile(path, `process ${process.pid} on ${hostname()}\n`));
  giveToOwner(path);
};

const holderOf = (dataDir: string): string => {
  try {
    return readFileSync(join(dataDir, HOLDER_FILE), 'utf8').trim();
  } catch {
    return 'a process that left no trace of itself';
  }
};

export const inUseBy = (dataDir: string, holder: string): string =>
  `DATA_DIR ${dataDir} is in use by another service: ${holder}; give this one a directory of its own, or stop that one`;

const LOOKED_AT_EVERY_MS = 1_000;

/** Not so where this user may not look. */
const isGone = (path: string): boolean => {
  try {
    return statSync(path, { throwIfNoEntry: false }) === undefined;
  } catch {
    return false;
  }
};

/** @throws DirectoryGoneError uncaught, which ends the process: what it goes on to acknowledge would end with it, and nobody would know before */
const endingWithout = (dataDir: string, lock: DirectoryLock): DirectoryLock => {
  const timer = setInterval(() => {
    if (isGone(join(dataDir, LOCK_FILE))) throw new DirectoryGoneError(dataDir);
  }, LOOKED_AT_EVERY_MS).unref();
  return {
    close: () => {
      clearInterval(timer);
      return lock.close();
    },
  };
};

/**
 * One service at a time has a data directory: engines in it belong to the threads of one process. The lock is the operating system's
 * and ends with its process, however that ends; the process ends with the directory. Commands do not take it.
 *
 * @throws DirectoryInUseError another service has it; the message names its process
 */
export const lockForService = async (dataDir: string): Promise<DirectoryLock> => {
  for (const deadline = performance.now() + PATIENCE_MS; ;) {
    const lock = lockFile(join(dataDir, LOCK_FILE), 'alone');
    if (lock)
      return opening(async (kept) => {
        kept(lock);
        await writeHolder(join(dataDir, HOLDER_FILE));
        return endingWithout(dataDir, lock);
      });
    if (performance.now() > deadline) throw new DirectoryInUseError(inUseBy(dataDir, holderOf(dataDir)));
    await pause(LOOK_AGAIN_MS);
  }
};

/** The process whose service has this directory; undefined when none has. Makes nothing. */
export const holderOfDirectory = async (dataDir: string): Promise<string | undefined> => {
  const path = join(dataDir, LOCK_FILE);
  if (!existsSync(path)) return undefined;
  const lock = lockFile(path, 'shared');
  await lock?.close();
  return lock ? undefined : holderOf(dataDir);
};

export type MovedRow = 'event store' | 'database' | 'documents';

/** Left in a data directory whose contents live elsewhere, or are on the way there. */
export interface MigrationMarker {
  /** Id of the move, which the database that received the data has as well. */
  readonly id: string;
  readonly state: 'moving' | 'moved';
  readonly rows: readonly MovedRow[];
  readonly at: string;
}

export const MOVED_FILE = 'moved.json';

/** Undefined where nothing was moved. @throws Error the file is damaged */
export const readMigrationMarker = async (dataDir: string): Promise<MigrationMarker | undefined> => {
  const path = join(dataDir, MOVED_FILE);
  const text = await ifThere(readFile(path, 'utf8'));
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as MigrationMarker;
  } catch (error) {
    throw new Error(
      `${path} is damaged: remove it only if nothing of this directory was ever moved to other engines`,
      { cause: error },
    );
  }
};

/** On the disk, whole, when it resolves. */
export const writeMigrationMarker = async (dataDir: string, mark: MigrationMarker): Promise<void> => {
  const path = join(dataDir, MOVED_FILE);
  const draft = `${path}.draft`;
  await rm(draft, { force: true });
  await writeDurably(draft, `${JSON.stringify(mark, undefined, 2)}\n`);
  await rename(draft, path);
  await sync(dataDir);
};
