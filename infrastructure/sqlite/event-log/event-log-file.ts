import type { DatabaseSync } from 'node:sqlite';
import { Connection, whileBusy } from '../connection.ts';
import type { ConnectionSettings } from '../connection.ts';

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
  readonly path: string;
  /** How long a statement waits for a lock that another process holds. */
  readonly busyTimeoutMs: number;
  /** Upper bound of the file in pages; beyond it SQLite answers as on a full disk. */
  readonly maxPageCount?: number;
}

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

/** The writer creates the file and brings its schema up to date; readers come after it. */
export const openEventLog = (file: EventLogFile & Pick<ConnectionSettings, 'role'>): Connection => {
  const connection = new Connection({ ...file, synchronous: 'FULL' });
  try {
    if (file.role === 'writer') whileBusy(() => migrate(connection.database, MIGRATIONS), file.busyTimeoutMs);
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
};
