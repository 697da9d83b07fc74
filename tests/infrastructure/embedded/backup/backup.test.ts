import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { chainEvents, encodeEvent } from '../../../../application/event-codec/event-codec.ts';
import type { EventMetadata } from '../../../../application/ports/event-store.ts';
import { copyDatabase, takeLaterKeys } from '../../../../infrastructure/embedded/backup/databases.ts';
import type { Manifest } from '../../../../infrastructure/embedded/backup/manifest.ts';
import { oneAtATime } from '../../../../infrastructure/embedded/backup/manifest.ts';
import { restoreBackup } from '../../../../infrastructure/embedded/backup/restore-backup.ts';
import { writeBackup } from '../../../../infrastructure/embedded/backup/write-backup.ts';
import { lockFile } from '../../../../infrastructure/embedded/directory-lock.ts';
import { NOW } from '../../../domain/support/loan-story.ts';
import { fillEventLog } from '../../../support/event-log-at-size.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

let directory: string;
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
  directory = temporaryDirectory();
  [dataDir, backup, target] = ['data', 'backup', 'target'].map((name) => join(directory, name)) as [
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
    expect(readdirSync(directory)).not.toContain('target');
  });

  test('of a log with damaged events is made, names them, and is restored as it is', async () => {
    withDatabase(
      join(dataDir, 'events.db'),
      `drop trigger events_never_change; update events set data = data || ' ' where position = 9`,
    );
    const { damaged_events: damaged } = await write();
    expect(damaged).toMatchObject([
      { stream: expect.stringMatching(/^loan-/), revision: expect.any(Number) },
    ]);
    expect((await restore()).damaged_events).toEqual(damaged);
  });

  test.each([
    ['data', `data || ' '`],
    ['metadata', `'{'`],
  ])('in which the %s of an event is not what it was in the log is refused', async (column, value) => {
    await write();
    const log = join(backup, 'events.db');
    withDatabase(
      log,
      `drop trigger events_never_change; update events set ${column} = ${value} where position = 9`,
    );
    const path = join(backup, 'manifest.json');
    const manifest = JSON.parse(readFileSync(path, 'utf8'));
    const sha256 = createHash('sha256').update(readFileSync(log)).digest('hex');
    const files = manifest.files.map((file: { path: string }) =>
      file.path === 'events.db' ? { ...file, sha256, size: statSync(log).size } : file,
    );
    writeFileSync(path, JSON.stringify({ ...manifest, files }));
    await expect(restore()).rejects.toThrow('does not follow from the one before');
  });

  test('restores to files that the service may write and nobody else may read, whatever became of the backup', async () => {
    await write();
    for (const [file, mode] of [
      ['events.db', 0o400],
      ['service.db', 0o644],
    ] as const)
      chmodSync(join(backup, file), mode);
    await restore();
    for (const file of ['events.db', 'service.db'])
      expect(statSync(join(target, file)).mode & 0o777).toBe(0o600);
  });

  test('restores into a directory of the service’s user to files of that user', async () => {
    mkdirSync(join(dataDir, 'documents', 'stream'), { recursive: true });
    writeFileSync(join(dataDir, 'documents', 'stream', 'sha256'), 'sealed');
    await write();
    mkdirSync(target);
    // Root may make files in everybody's directory; anybody else only in an own one.
    if (process.getuid?.() === 0) chownSync(target, 65_534, 65_534);
    const { uid } = statSync(target);
    await restore();
    const names = readdirSync(target, { recursive: true, encoding: 'utf8' });
    const owners = names.map((name) => statSync(join(target, name)).uid);
    expect(owners).toHaveLength(5);
    expect(new Set(owners)).toEqual(new Set([uid]));
  });

  test('has the master key that opens what it holds, also when that is rotated while documents are copied', async () => {
    writeDocuments(20);
    writeFileSync(join(dataDir, 'master.key'), 'old');
    const writing = writeBackup({ ...requestTo(backup), withKey: true });
    while (!existsSync(join(directory, '.backup.partial', 'documents'))) await setImmediate();
    writeFileSync(join(dataDir, 'master.key'), 'new');
    withDatabase(
      join(dataDir, 'service.db'),
      `update wrapped_key set wrapped = 'new' where name = 'master-key:check'`,
    );
    await writing;
    expect(readFileSync(join(backup, 'master.key'), 'utf8')).toBe('old');
  });

  test('never holds half of what was forgotten while documents were copied', async () => {
    writeDocuments(20);
    const writing = write();
    while (!existsSync(join(directory, '.backup.partial', 'documents'))) await setImmediate();
    appendForgotten();
    withDatabase(join(dataDir, 'service.db'), `delete from wrapped_key where name = 'k1'`);
    for (const name of ['0', '9']) rmSync(join(dataDir, 'documents', 'a', name));
    const { log, files } = await writing;
    expect(log).toEqual({ position: 19, events: 19, streams: 3 });
    expect(keysIn(join(backup, 'service.db'))).toEqual(['k2', 'master-key:check']);
    const documents = readdirSync(join(backup, 'documents', 'a'));
    expect(documents.toSorted()).toEqual(readdirSync(join(dataDir, 'documents', 'a')).toSorted());
    expect(files).toHaveLength(2 + documents.length);
    await restore();
  });

  test('has files among the documents that are none of the service, whatever their names', async () => {
    const names = ['a copy of nº 3 (old).pdf', 'a...b', 'a\\b', 'two\nlines'];
    mkdirSync(join(dataDir, 'documents'));
    for (const name of names) writeFileSync(join(dataDir, 'documents', name), name);
    await write();
    await restore();
    expect(readdirSync(join(target, 'documents')).toSorted()).toEqual(names);
  });

  test.each(['/etc/passwd', '../x', 'documents/../../x', 'documents/./x', 'a\n/../x', '..', ''])(
    'whose manifest names the file %j outside of it is refused',
    async (path) => {
      await write();
      const manifest = JSON.parse(readFileSync(join(backup, 'manifest.json'), 'utf8')) as Manifest;
      const files = [...manifest.files, { path, size: 0, sha256: '' }];
      writeFileSync(join(backup, 'manifest.json'), JSON.stringify({ ...manifest, files }));
      await expect(restore()).rejects.toThrow('the manifest names a file outside the backup');
      expect(readdirSync(directory)).not.toContain('target');
    },
  );

  test('does not follow a link among the documents', async () => {
    writeDocuments(1);
    writeFileSync(join(directory, 'elsewhere'), 'of another');
    symlinkSync(join(directory, 'elsewhere'), join(dataDir, 'documents', 'planted'));
    await expect(write()).rejects.toThrow('documents/planted is neither file nor directory');
    expect(readdirSync(directory).toSorted()).toEqual(['data', 'elsewhere']);
  });

  test('goes where a link leads, but not into the data', async () => {
    mkdirSync(join(directory, 'volume'));
    symlinkSync(join(directory, 'volume'), backup);
    await write();
    expect(readdirSync(join(directory, 'volume')).toSorted()).toEqual([
      'events.db',
      'manifest.json',
      'service.db',
    ]);
    symlinkSync(dataDir, join(directory, 'link'));
    const inside = writeBackup(requestTo(join(directory, 'link', 'b')));
    await expect(inside).rejects.toThrow('inside the data directory');
  });

  test('is written by one process at a time, and so is a restore; what a killed one left is in nobody’s way', async () => {
    mkdirSync(join(directory, '.backup.partial'));
    const results = await Promise.allSettled([write(), write()]);
    expect(reasonsOf(results)).toEqual([expect.stringMatching(/^another backup to .* is being made$/)]);
    mkdirSync(join(target, '.restoring', 'documents'), { recursive: true });
    writeFileSync(join(target, '.restoring.lock'), '');
    expect(reasonsOf(await Promise.allSettled([restore(), restore()]))).toEqual([
      expect.stringMatching(/^another restore to .* is going on$/),
    ]);
    expect(readdirSync(target).toSorted()).toEqual(['events.db', 'service.db']);
    rmSync(target, { recursive: true });
    expect(readdirSync(directory).toSorted()).toEqual(['backup', 'data']);
  });

  test('removes what a backup to another name left when it was killed, and nothing of one that is being made', async () => {
    const names = ['killed', 'made', 'young'].map((name) => `.${name}.partial`);
    const locks = names.map((name) => join(directory, `${name}.lock`));
    for (const name of names) mkdirSync(join(directory, name, 'documents'), { recursive: true });
    for (const lock of locks) writeFileSync(lock, '');
    const made = lockFile(locks[1]!, 'alone')!;
    for (const lock of locks.slice(0, 2)) utimesSync(lock, 0, 0);
    await write();
    await made.close();
    const left = ['.made.partial', '.made.partial.lock', '.young.partial', '.young.partial.lock'];
    expect(readdirSync(directory).toSorted()).toEqual([...left, 'backup', 'data']);
  });

  test('says what to do where the disk is full', async () => {
    const full = oneAtATime(join(directory, 'lock'), 'busy', async () => {
      throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
    });
    await expect(full).rejects.toThrow(
      `${directory} has no room left: make room there, and give the same command again (ENOSPC: no space left on device, write)`,
    );
  });

  test('restores to the top of a file system, which keeps something there of its own', async () => {
    await write();
    mkdirSync(join(target, 'lost+found'), { recursive: true });
    await restore();
    expect(readdirSync(target)).toEqual(expect.arrayContaining(['events.db', 'lost+found']));
  });

  test('goes to an empty place outside of the data only, and a restore too', async () => {
    await expect(writeBackup({ ...requestTo(join(dataDir, 'b')) })).rejects.toThrow(
      'inside the data directory',
    );
    await expect(writeBackup({ ...requestTo(directory) })).rejects.toThrow('is not empty');
    await expect(writeBackup({ ...requestTo('/proc') })).rejects.toThrow('is a mount point');
    await write();
    fillEventLog(target, 1);
    await expect(restore()).rejects.toThrow('is not empty');
  });
});

const writeDocuments = (count: number): void => {
  mkdirSync(join(dataDir, 'documents', 'a'), { recursive: true });
  for (let i = 0; i < count; i += 1) writeFileSync(join(dataDir, 'documents', 'a', `${i}`), 'sealed');
};

const appendForgotten = (): void => {
  const db = new DatabaseSync(join(dataDir, 'events.db'));
  const last = db.prepare(`select * from events where stream_id = 1 order by revision desc limit 1`).get()!;
  const { name } = db.prepare('select name from streams where id = 1').get()!;
  const { hash, ...metadata } = JSON.parse(String(last['metadata'])) as EventMetadata;
  const forgotten = encodeEvent({ type: 'BorrowerForgotten', forgottenAt: NOW });
  const [event] = chainEvents(hash, String(name), [{ id: 'forgotten', ...forgotten, metadata }]);
  db.prepare('insert into events values (19, 1, ?, ?, ?, ?, ?)').run(
    Number(last['revision']) + 1,
    ...[event!.id, event!.type, event!.data, JSON.stringify(event!.metadata)],
  );
  db.close();
};

const reasonsOf = (results: readonly PromiseSettledResult<unknown>[]): string[] =>
  results.flatMap((result) => (result.status === 'rejected' ? [(result.reason as Error).message] : []));

const requestTo = (to: string) => ({
  dataDir,
  to,
  withKey: false,
  programVersion: '1.2.3',
  now: () => '2026-01-15T12:00:00.000Z',
  onStep: () => undefined,
});

test('a copy for which there is no room is named, and so is data that is damaged', () => {
  const [source, full] = [join(dataDir, 'events.db'), '/dev/full'];
  expect(() => copyDatabase(source, full)).toThrow(/^\/dev\/full cannot be used: .*full; make room$/);
  writeFileSync(source, 'no database at all');
  expect(() => copyDatabase(source, join(directory, 'copy.db'))).toThrow(`${source} is damaged`);
});

test('a copy that cannot be written is named, as where a quota is used up', () => {
  const [source, copy] = [join(directory, 'large.db'), join(directory, 'copy.db')];
  withDatabase(source, 'CREATE TABLE content (bytes BLOB); INSERT INTO content VALUES (zeroblob(1000000))');
  const limitFiles = (most: string): void =>
    void execFileSync('prlimit', ['--pid', String(process.pid), `--fsize=${most}:`]);
  limitFiles('500000');
  try {
    expect(() => copyDatabase(source, copy)).toThrow(`${copy} cannot be used: disk I/O error`);
  } finally {
    limitFiles('unlimited');
  }
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
