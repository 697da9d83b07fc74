import { DatabaseSync } from 'node:sqlite';
import type { DatabaseSyncOptions } from 'node:sqlite';
import { CHAIN_START, chainHash, metadataOf } from '../../../application/event-codec/event-codec.ts';
import type { EventMetadata, JsonText } from '../../../application/ports/event-store.ts';
import { SQLITE_FULL, isUnavailable, unusable } from '../../sqlite/connection.ts';
import { BackupFailedError } from './manifest.ts';
import type { BrokenLink } from './manifest.ts';

/** A running service may hold a lock for so long, such as while it empties its write-ahead log. */
const PATIENCE_MS = 10_000;

/** Extended result codes: no room, and IOERR_WRITE, _FSYNC, _DIR_FSYNC, _TRUNCATE. A quota that is used up is one of a write. */
const OF_WRITING: ReadonlySet<unknown> = new Set([SQLITE_FULL, 778, 1_034, 1_290, 1_546]);

/** @throws StoreUnavailableError naming the file that is in the way: only the copy is written */
const copying = (source: string, copy: string, work: () => void): void => {
  try {
    work();
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    const { errcode } = error as { errcode?: unknown };
    throw unusable(OF_WRITING.has(errcode) ? copy : source, error);
  }
};

/** The file is closed whatever happens. */
const opened = <T>(path: string, options: DatabaseSyncOptions, work: (db: DatabaseSync) => T): T => {
  const db = new DatabaseSync(path, options);
  try {
    return work(db);
  } finally {
    db.close();
  }
};

const reading = <T>(path: string, work: (db: DatabaseSync) => T): T => opened(path, { readOnly: true }, work);

/** One snapshot of a database that other processes write meanwhile without waiting. Free pages, and what was deleted in them, stay behind. */
export const copyDatabase = (source: string, target: string): void =>
  opened(source, { readOnly: true, timeout: PATIENCE_MS }, (db) =>
    copying(source, target, () => db.prepare('VACUUM INTO ?').run(target)),
  );

/** What events need to be read and forgotten; written before the event is. */
const TABLES_OF_EVENTS = ['wrapped_key', 'borrower_operation'] as const;

const MASTER_KEY_STATE = (schema: 'main' | 'live'): string =>
  `SELECT name, wrapped FROM ${schema}.wrapped_key WHERE name LIKE 'master-key:%' ORDER BY name`;

/** Keys of after a rotation of the master key beside secrets of before it: neither master key would open all of them. */
const refuseRotation = (db: DatabaseSync): void => {
  const [copied, live] = (['main', 'live'] as const).map((schema) =>
    JSON.stringify(db.prepare(MASTER_KEY_STATE(schema)).all()),
  );
  if (copied !== live)
    throw new BackupFailedError('the master key was rotated while the data was copied: run the backup again');
};

/**
 * The copy of the service's database was made before that of the events, so that it knows of no event that is not there. The keys
 * of events that came in between are added here, and keys that were deleted in between are taken out again.
 */
export const takeLaterKeys = (copy: string, source: string): void =>
  opened(copy, { timeout: PATIENCE_MS }, (db) =>
    copying(source, copy, () => {
      db.exec('PRAGMA secure_delete = ON; PRAGMA synchronous = FULL');
      db.prepare('ATTACH ? AS live').run(source);
      db.exec('BEGIN IMMEDIATE');
      refuseRotation(db);
      for (const table of TABLES_OF_EVENTS) {
        const there = db
          .prepare(`SELECT 1 FROM live.sqlite_master WHERE type = 'table' AND name = ?`)
          .get(table);
        if (!there) continue;
        db.exec(`DELETE FROM main.${table}; INSERT INTO main.${table} SELECT * FROM live.${table}`);
      }
      db.exec('COMMIT');
    }),
  );

interface EventRow {
  readonly id: string;
  readonly type: string;
  readonly data: string;
  readonly metadata: string;
  readonly stream: string;
  readonly revision: number;
}

interface LogExtent {
  readonly position: number;
  readonly events: number;
  readonly streams: number;
}

const EVENTS_IN_ORDER = `SELECT e.id, e.type, e.data, e.metadata, s.name AS stream, e.revision
  FROM streams s CROSS JOIN events e ON e.stream_id = s.id ORDER BY s.id, e.revision`;

/** False for a log that nothing was ever stored in, and for a file that is not even a database. */
export const holdsEvents = (path: string): boolean => {
  try {
    return reading(path, (db) => db.prepare('SELECT 1 FROM events LIMIT 1').get() !== undefined);
  } catch {
    return false;
  }
};

/** @throws BackupFailedError a page, an index or a reference of the file is damaged */
export const checkIntegrity = (path: string): void =>
  reading(path, (db) => {
    const answers = db
      .prepare('PRAGMA integrity_check')
      .all()
      .map((row) => String(row['integrity_check']));
    if (answers.join() !== 'ok')
      throw new BackupFailedError(`${path} is damaged: ${answers.slice(0, 3).join('; ')}`);
    if (db.prepare('PRAGMA foreign_key_check').all().length > 0)
      throw new BackupFailedError(`${path} is damaged: rows refer to rows that are not there`);
  });

export const extentOf = (path: string): LogExtent =>
  reading(path, (db) => {
    const row = db
      .prepare(
        `SELECT coalesce(max(position), 0) AS position, count(*) AS events, count(DISTINCT stream_id) AS streams FROM events`,
      )
      .get() as unknown as LogExtent;
    return { position: row.position, events: row.events, streams: row.streams };
  });

/** Whether a borrower was forgotten since this copy of the log was made. */
export const forgottenSince = (copy: string, source: string): boolean => {
  const { position } = extentOf(copy);
  const later = `SELECT 1 FROM events WHERE position > ? AND type LIKE 'loan.borrower_forgotten.%' LIMIT 1`;
  return reading(source, (db) => db.prepare(later).get(position) !== undefined);
};

const follows = (
  previous: string,
  { stream, id, type, data }: EventRow,
  metadata: EventMetadata,
): boolean => {
  try {
    return chainHash(previous, stream, { id, type, data: data as JsonText, metadata }) === metadata.hash;
  } catch {
    return false;
  }
};

/** Events that do not follow from the one before in their stream; each is judged by what is stored of that one. */
export const brokenLinks = (path: string): readonly BrokenLink[] =>
  reading(path, (db) => {
    const broken: BrokenLink[] = [];
    let [last, previous, expected] = ['', CHAIN_START, 0];
    for (const found of db.prepare(EVENTS_IN_ORDER).iterate()) {
      const row = found as unknown as EventRow;
      const { stream, revision } = row;
      const metadata = metadataOf(row.metadata);
      if (stream !== last) [last, previous, expected] = [stream, CHAIN_START, 0];
      if (revision !== expected || !follows(previous, row, metadata)) broken.push({ stream, revision });
      [previous, expected] = [metadata.hash, revision + 1];
    }
    return broken;
  });

/** @throws BackupFailedError one of them is another in the source: it became so on the way */
export const ensureCopied = (copy: string, source: string, events: readonly BrokenLink[]): void => {
  const text = `SELECT e.* FROM events e JOIN streams s ON s.id = e.stream_id WHERE s.name = ? AND e.revision = ?`;
  for (const { stream, revision } of events) {
    const [here, there] = [copy, source].map((path) =>
      reading(path, (db) => JSON.stringify(db.prepare(text).get(stream, revision))),
    );
    if (here !== there)
      throw new BackupFailedError(`event ${revision} of ${stream} was damaged while it was copied`);
  }
};
