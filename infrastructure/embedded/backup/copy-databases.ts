import { DatabaseSync } from 'node:sqlite';
import { BackupFailedError } from './manifest.ts';

/** A running service may hold a lock for so long, such as while it empties its write-ahead log. */
const PATIENCE_MS = 10_000;

/** One snapshot of a database that others write meanwhile; nobody waits for it. Free pages, and what was deleted in them, stay behind. */
export const copyDatabase = (source: string, target: string): void => {
  const db = new DatabaseSync(source, { readOnly: true, timeout: PATIENCE_MS });
  try {
    db.prepare('VACUUM INTO ?').run(target);
  } finally {
    db.close();
  }
};

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
export const takeLaterKeys = (copy: string, source: string): void => {
  const db = new DatabaseSync(copy, { timeout: PATIENCE_MS });
  try {
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
  } finally {
    db.close();
  }
};
