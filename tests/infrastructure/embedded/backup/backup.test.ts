import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { takeLaterKeys } from '../../../../infrastructure/embedded/backup/databases.ts';
import { restoreBackup } from '../../../../infrastructure/embedded/backup/restore-backup.ts';
import { writeBackup } from '../../../../infrastructure/embedded/backup/write-backup.ts';
import { fillEventLog } from '../../../support/event-log-at-size.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let [dataDir, backup, target] = ['', '', ''];

const withDatabase = (path: string, statements: string): void => {
  const db = new DatabaseSync(path);
  db.exec(statements);
  db.close();
};

const keysIn = (path: string): unknown[] => {
  const db = new DatabaseSync(path);
  const rows = db.prepare('select name from wrapped_key order by name').all();
  db.close();
  return rows.map((row) => row['name']);
};

const write = () =>
  writeBackup({
    dataDir,
    to: backup,
    withKey: false,
    programVersion: '1.2.3',
    now: () => '2026-01-15T12:00:00.000Z',
    onStep: () => undefined,
  });
const restore = () => restoreBackup({ from: backup, dataDir: target, onStep: () => undefined });

const flipByte = (path: string, at: number): void => {
  const bytes = readFileSync(path);
  bytes[at]! ^= 1;
  writeFileSync(path, bytes);
};

beforeEach(async () => {
  directory = await temporaryDirectory();
  [dataDir, backup, target] = ['data', 'backup', 'target'].map((name) => join(directory.path, name)) as [
    string,
    string,
    string,
  ];
  fillEventLog(dataDir, 3, 2);
  withDatabase(
    join(dataDir, 'service.db'),
    `create table wrapped_key (name text primary key, wrapped text); create table borrower_operation (digest text, stream text);
     insert into wrapped_key values ('k1', ''), ('k2', ''), ('master-key:check', 'old')`,
  );
});
afterEach(() => directory.remove());

describe('a backup', () => {
  test('tells what it holds, leaves the master key out, and restores to the same files', async () => {
    writeFileSync(join(dataDir, 'master.key'), 'secret');
    const manifest = await write();
    expect(manifest.log).toEqual({ position: 18, events: 18, streams: 3 });
    expect(manifest.files.map(({ path }) => path)).toEqual(['events.db', 'service.db']);
    expect(manifest.master_key_contained).toBe(false);
    await restore();
    expect(readdirSync(target).toSorted()).toEqual(['events.db', 'service.db']);
    for (const file of ['events.db', 'service.db'])
      expect(readFileSync(join(target, file)).equals(readFileSync(join(backup, file)))).toBe(true);
  });

  test.each(['events.db', 'service.db'])('with a changed byte in %s is refused', async (file) => {
    await write();
    flipByte(join(backup, file), 5_000);
    await expect(restore()).rejects.toThrow(`${file} is not as it was written`);
    expect(readdirSync(directory.path)).not.toContain('target');
  });

  test('of a log whose chain is broken is not taken for one', async () => {
    withDatabase(
      join(dataDir, 'events.db'),
      `drop trigger events_never_change; update events set data = data || ' ' where position = 9`,
    );
    await expect(write()).rejects.toThrow('does not follow from the one before');
    expect(readdirSync(directory.path)).not.toContain('backup');
  });

  test('goes to an empty place outside of the data only, and a restore too', async () => {
    await expect(writeBackup({ ...requestTo(join(dataDir, 'b')) })).rejects.toThrow(
      'inside the data directory',
    );
    await expect(writeBackup({ ...requestTo(directory.path) })).rejects.toThrow('is not empty');
    await write();
    fillEventLog(target, 1);
    await expect(restore()).rejects.toThrow('is not empty');
  });
});

const requestTo = (to: string) => ({
  dataDir,
  to,
  withKey: false,
  programVersion: '1.2.3',
  now: () => '2026-01-15T12:00:00.000Z',
  onStep: () => undefined,
});

test('keys that came or went while the log was copied are as they are now', async () => {
  await write();
  withDatabase(
    join(dataDir, 'service.db'),
    `delete from wrapped_key where name = 'k1'; insert into wrapped_key values ('k3', '')`,
  );
  takeLaterKeys(join(backup, 'service.db'), join(dataDir, 'service.db'));
  expect(keysIn(join(backup, 'service.db'))).toEqual(['k2', 'k3', 'master-key:check']);
});

test('a backup that began before a rotation of the master key and ends after it is refused', async () => {
  await write();
  withDatabase(
    join(dataDir, 'service.db'),
    `update wrapped_key set wrapped = 'new' where name = 'master-key:check'`,
  );
  const take = (): void => takeLaterKeys(join(backup, 'service.db'), join(dataDir, 'service.db'));
  expect(take).toThrow('the master key was rotated while the data was copied');
});
