import { chownSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import { fileDeadLetters } from '../../../infrastructure/administrator/file-dead-letters.ts';
import { lockFile, lockForService } from '../../../infrastructure/embedded/directory-lock.ts';
import { FilePlace } from '../../../infrastructure/documents/file-place.ts';
import { UploadArea } from '../../../infrastructure/http/bodies/uploads.ts';
import { writeDurably } from '../../../infrastructure/support/durable-files.ts';
import { SqliteGenerationTables } from '../../../infrastructure/sqlite/sqlite-generation-tables.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const NOW = '2026-01-15T12:00:00.000Z';
const NOBODY = 65_534;

let directory: string;
let owner: number;
beforeEach(async () => {
  directory = temporaryDirectory();
  // Root may make files in everybody's directory; anybody else only in an own one.
  if (process.getuid?.() === 0) chownSync(directory, NOBODY, NOBODY);
  owner = statSync(directory).uid;
});

const inDirectory = (name: string): string => join(directory, name);
const ownersBelow = (): Readonly<Record<string, number>> =>
  Object.fromEntries(
    (readdirSync(directory, { recursive: true }) as string[]).map((name) => [
      name,
      statSync(inDirectory(name)).uid,
    ]),
  );
const expectOwned = (...names: readonly string[]): void =>
  expect(ownersBelow()).toEqual(Object.fromEntries(names.map((name) => [name, owner])));

test('a generation of read models, with what SQLite keeps beside it', async () => {
  const tables = new SqliteGenerationTables(directory, { logger: new RecordingLogger() }, () => NOW);
  const database = await tables.open(2);
  try {
    expectOwned('read-model-2.db', 'read-model-2.db-shm', 'read-model-2.db-wal');
  } finally {
    await database.close();
  }
});

test('a lock, with what SQLite keeps beside it', async () => {
  const lock = lockFile(inDirectory('rotating.db'), 'alone')!;
  try {
    expectOwned(...readdirSync(directory));
  } finally {
    await lock.close();
  }
});

test('what says which service has the directory, and where it keeps uploads', async () => {
  const lock = await lockForService(directory);
  const uploads = await UploadArea.open(inDirectory('uploads'));
  const [own = ''] = readdirSync(inDirectory('uploads'));
  try {
    expect(ownersBelow()).toMatchObject({
      'service.pid': owner,
      uploads: owner,
      [join('uploads', own)]: owner,
    });
  } finally {
    await uploads.close();
    await lock.close();
  }
});

test('a key, and a decision that is put aside', async () => {
  await writeDurably(inDirectory('master.key'), 'key');
  await fileDeadLetters(inDirectory('dead.jsonl')).put({
    text: '{}',
    origin: 'line 1 of a file',
    reason: { code: 'validation_error', message: 'no decision', details: [] },
    refusedAt: NOW,
  });
  expectOwned('dead.jsonl', 'master.key');
});

test('a document, and its folders', async () => {
  const place = new FilePlace(directory);
  await place.start();
  await place.put('stream/sha256', 'key', async function* () {
    yield Buffer.from('sealed');
  });
  expectOwned('documents', 'documents/.incoming', 'documents/stream', 'documents/stream/sha256');
});
