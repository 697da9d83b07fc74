import { DatabaseSync } from 'node:sqlite';

/** One entry a version, in order; an entry that has been shipped is never edited. */
const MIGRATIONS: readonly string[] = [
  `CREATE TABLE streams (
     id INTEGER PRIMARY KEY,
     name TEXT NOT NULL UNIQUE
   ) STRICT;
   CREATE TABLE events (
     position INTEGER PRIMARY KEY,
     stream_id INTEGER NOT NULL REFERENCES streams (id),
     revision INTEGER NOT NULL,
     id TEXT NOT NULL UNIQUE,
     type TEXT NOT NULL,
     data TEXT NOT NULL,
     metadata TEXT NOT NULL,
     UNIQUE (stream_id, revision)
   ) STRICT;
   CREATE TABLE claims (
     application_id TEXT NOT NULL,
     endpoint TEXT NOT NULL,
     key TEXT NOT NULL,
     stream_id INTEGER NOT NULL REFERENCES streams (id),
     PRIMARY KEY (application_id, endpoint, key)
   ) STRICT, WITHOUT ROWID;
   CREATE TRIGGER events_never_change BEFORE UPDATE ON events
     BEGIN SELECT RAISE(ABORT, 'stored events never change'); END;
   CREATE TRIGGER events_never_leave BEFORE DELETE ON events
     BEGIN SELECT RAISE(ABORT, 'stored events are never deleted'); END;`,
];

/** Of a file that this program has brought up to date. */
export const EVENT_LOG_VERSION = MIGRATIONS.length;

export interface EventLogFile {
  readonly file: string;
  readonly role: 'writer' | 'reader';
  /** How long a statement waits for a lock that another process holds. */
  readonly busyTimeoutMs: number;
  /** Upper bound of the file in pages; beyond it SQLite answers as on a full disk. */
  readonly maxPageCount?: number;
}

const SQLITE_BUSY = 5;

/** SQLite's primary result code; undefined for any other error. */
export const sqliteCode = (error: unknown): number | undefined => {
  const code = (error as { errcode?: unknown } | null)?.errcode;
  return typeof code === 'number' ? code & 0xff : undefined;
};

const sleep = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

/** The busy handler is not asked when a new file is switched to WAL, so two processes that start at once retry here. */
const patiently = (patienceMs: number, act: () => void): void => {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    try {
      act();
      return;
    } catch (error) {
      if (sqliteCode(error) !== SQLITE_BUSY || performance.now() > deadline) throw error;
      sleep(10);
    }
  }
};

const versionOf = (db: DatabaseSync): number =>
  Number(db.prepare('PRAGMA user_version').get()?.['user_version']);

/** Brings the schema to the last version; each step commits together with its stamp. @throws Error when the file is newer. */
export const migrate = (db: DatabaseSync, migrations: readonly string[]): void => {
  if (versionOf(db) === migrations.length) return;
  db.exec('BEGIN IMMEDIATE');
  try {
    const version = versionOf(db);
    if (version > migrations.length)
      throw new Error(
        `has schema version ${version}, this program knows versions up to ${migrations.length}: start a newer program`,
      );
    for (const step of migrations.slice(version)) db.exec(step);
    db.exec(`PRAGMA user_version = ${migrations.length}`);
    db.exec('COMMIT');
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
};

const configure = (db: DatabaseSync, options: EventLogFile): void => {
  const megabytes = options.role === 'writer' ? 32 : 16;
  db.exec(`PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA fullfsync = ON;
    PRAGMA checkpoint_fullfsync = ON;
    PRAGMA cache_size = -${megabytes * 1024};
    PRAGMA temp_store = MEMORY;
    PRAGMA wal_autocheckpoint = 4000;
    PRAGMA journal_size_limit = 67108864;`);
  if (options.maxPageCount !== undefined) db.exec(`PRAGMA max_page_count = ${options.maxPageCount}`);
  // Where shared memory is impossible (some network file systems), SQLite stays in the old mode without an error.
  if (db.prepare('PRAGMA journal_mode').get()?.['journal_mode'] !== 'wal')
    throw new Error('the file system does not support write-ahead logging');
  migrate(db, MIGRATIONS);
  if (options.role === 'reader') db.exec('PRAGMA query_only = ON');
};

export const openEventLog = (options: EventLogFile): DatabaseSync => {
  const db = new DatabaseSync(options.file, { timeout: options.busyTimeoutMs });
  try {
    patiently(options.busyTimeoutMs, () => configure(db, options));
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
};

/** The last connection of all processes moves the rest of the write-ahead log into the file; no other has to wait for it. */
export const closeEventLog = (db: DatabaseSync, role: EventLogFile['role']): void => {
  if (role === 'writer') db.exec('PRAGMA wal_checkpoint(PASSIVE)');
  db.close();
};
