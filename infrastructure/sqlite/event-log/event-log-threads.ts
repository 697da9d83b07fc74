import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { Logger } from '../../../application/ports/logger.ts';
import type { EventStoreWatch } from '../../../application/ports/observation.ts';
import { Connection, unusable, whileBusy } from '../connection.ts';
import type { ConnectionSettings, PageCaches } from '../connection.ts';
import { DatabaseThread } from '../database-thread.ts';
import type { AppendReply, Row } from './event-log-writer.ts';

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
  readonly maxPageCount?: number | undefined;
  readonly pageCacheBytes?: number | undefined;
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

/**
 * The writer creates the file and brings its schema up to date; readers come after it.
 * @throws StoreUnavailableError @throws DamagedStoreError
 */
export const openEventLog = (file: EventLogFile & Pick<ConnectionSettings, 'role'>): Connection => {
  const connection = new Connection({ ...file, synchronous: 'FULL' });
  try {
    if (file.role === 'writer') whileBusy(() => migrate(connection.database, MIGRATIONS), file.busyTimeoutMs);
    return connection;
  } catch (error) {
    connection.close();
    throw unusable(file.path, error);
  }
};

export interface SqliteEventStoreOptions {
  readonly logger?: Logger;
  /** How long an append waits for another process to release the file. Default 5,000. */
  readonly busyTimeoutMs?: number;
  /** Upper bound of the file in pages of 4 KiB; beyond it an append fails as on a full disk. Default: none. */
  readonly maxPageCount?: number;
  /** How long `close` waits for a disk that does not answer. Default 5,000. */
  readonly closeGraceMs?: number;
  readonly pageCaches?: PageCaches;
  /** Asked before each append: what it throws is the append's answer. */
  readonly mayAppend?: () => Promise<void>;
  readonly watch?: EventStoreWatch | undefined;
}

export const EVENT_LOG_FILE = 'events.db';

/** Carries out appends one after another, each durable when it is answered. */
export interface AppendWriter {
  call(append: Row, characters: number): Promise<AppendReply>;
  close(graceMs: number): Promise<void>;
}

const THREAD = new URL('./event-log-thread.ts', import.meta.url);
const BUSY_TIMEOUT_MS = 5_000;
/** Of appends that may wait while the disk is slow; more are refused. */
const LIMITS = { maxCalls: 10_000, maxCharacters: 64_000_000 };

const startWriter = (file: EventLogFile, options: SqliteEventStoreOptions): Promise<AppendWriter> =>
  DatabaseThread.start<Row, AppendReply>({
    name: 'event store writer',
    entry: THREAD,
    data: file,
    limits: LIMITS,
    logger: options.logger,
  });

/**
 * Appends have a thread of their own, because they wait for the disk; reads do not, and are answered where they are asked. The writer
 * first: it creates the file and brings the schema up to date.
 * @param beside the writer of the thread that opened the file before this one @throws StoreUnavailableError
 */
export const openEventLogOf = async (
  dataDir: string,
  options: SqliteEventStoreOptions,
  beside?: AppendWriter,
): Promise<readonly [writer: AppendWriter, reader: Connection]> => {
  if (!beside) await mkdir(dataDir, { recursive: true });
  const { busyTimeoutMs = BUSY_TIMEOUT_MS, maxPageCount, pageCaches } = options;
  const file: EventLogFile = { path: join(dataDir, EVENT_LOG_FILE), busyTimeoutMs, maxPageCount };
  const writer = beside ?? (await startWriter({ ...file, pageCacheBytes: pageCaches?.writer }, options));
  try {
    return [writer, openEventLog({ ...file, pageCacheBytes: pageCaches?.reader, role: 'reader' })];
  } catch (error) {
    if (!beside) await writer.close(0);
    throw error;
  }
};
