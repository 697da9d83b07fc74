import { beforeEach, describe, expect, test } from '@jest/globals';
import { chmod, mkdir, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Configuration } from '../../../infrastructure/composition/configuration.ts';
import { backupsOf, keepPrivate } from '../../../infrastructure/composition/data-directory.ts';
import { ensureUsable } from '../../../infrastructure/composition/data-parts.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

let directory: string;
let logger: RecordingLogger;
const make = async (path: string, mode: number): Promise<void> => {
  await writeFile(join(directory, path), 'x');
  await chmod(join(directory, path), mode);
};
const modeOf = async (path = ''): Promise<string> =>
  ((await stat(join(directory, path))).mode & 0o777).toString(8);
const keep = (
  environment: 'sandbox' | 'production',
  ...allowInsecure: Configuration['allowInsecure']
): Promise<void> => keepPrivate({ dataDir: directory, environment, allowInsecure }, logger);

beforeEach(async () => {
  directory = temporaryDirectory();
  logger = new RecordingLogger();
  await mkdir(join(directory, 'documents'), { mode: 0o755 });
  await make('documents/one', 0o644);
  await make('service.db', 0o640);
  await make('master.key', 0o600);
  await chmod(directory, 0o755);
});

describe('a data directory that others can read', () => {
  test('is mended in the sandbox, with everything in it, and that is said once', async () => {
    await keep('sandbox');
    expect(
      await Promise.all(['', 'documents', 'documents/one', 'service.db', 'master.key'].map(modeOf)),
    ).toEqual([...['700', '700', '600', '600', '600']]);
    expect(logger.lines).toHaveLength(1);
    await keep('sandbox');
    await keep('production');
    expect(logger.lines).toHaveLength(1);
  });

  test('stays what it is behind a link, but for a key', async () => {
    const elsewhere = temporaryDirectory();
    for (const name of ['certificates', 'key']) {
      await writeFile(join(elsewhere, name), 'x');
      await chmod(join(elsewhere, name), 0o644);
    }
    await symlink(join(elsewhere, 'certificates'), join(directory, 'ca.pem'));
    await symlink(join(elsewhere, 'key'), join(directory, 'other.key'));
    await keep('sandbox');
    expect(await Promise.all(['', 'ca.pem', 'other.key', 'service.db'].map(modeOf))).toEqual([
      ...['700', '644', '600', '600'],
    ]);
  });

  test('leaves what lies below a link as it is, though the link has a name of the service', async () => {
    const elsewhere = temporaryDirectory();
    await writeFile(join(elsewhere, 'other'), 'x');
    await chmod(join(elsewhere, 'other'), 0o644);
    await symlink(elsewhere, join(directory, 'uploads'));
    await keep('sandbox');
    expect(await Promise.all(['', 'uploads/other', 'documents/one'].map(modeOf))).toEqual([
      ...['700', '644', '600'],
    ]);
  });

  test('that holds what is none of the service’s stays open, and so does that; it is said', async () => {
    await mkdir(join(directory, 'www'), { mode: 0o755 });
    await make('www/index.html', 0o644);
    await keep('sandbox');
    const paths = ['', 'www', 'www/index.html', 'documents', 'documents/one', 'service.db', 'master.key'];
    expect(await Promise.all(paths.map(modeOf))).toEqual(['755', '755', '644', '700', '600', '600', '600']);
    expect(logger.lines).toMatchObject([{ level: 'warn', fields: { foreign: join(directory, 'www') } }]);
    await expect(keep('production')).rejects.toThrow(/www is none of the service's/);
  });

  test('is none where a file or a device stands', async () => {
    const dataDir = join(directory, 'file');
    await make('file', 0o644);
    await keepPrivate({ dataDir, environment: 'sandbox', allowInsecure: [] }, logger);
    expect([await modeOf('file'), logger.lines]).toEqual(['644', []]);
  });

  test('is refused in production, in one line that says what to do', async () => {
    await expect(keep('production')).rejects.toThrow(
      /^DATA_DIR lets others read [^\n]+mode 0755[^\n]+chmod[^\n]+ALLOW_INSECURE$/,
    );
    expect(await modeOf()).toBe('755');
    await keep('production', 'files');
    expect([await modeOf(), await modeOf('service.db')]).toEqual(['755', '640']);
  });

  test('so is one with a key that others can read; other files are made private', async () => {
    await chmod(directory, 0o700);
    await keep('production');
    expect(await modeOf('service.db')).toBe('600');
    for (const key of ['master.key', 'master.key.previous']) {
      await writeFile(join(directory, key), '');
      await chmod(join(directory, key), 0o604);
      const refusal = `${key} (mode 0604)`;
      await expect(keep('production')).rejects.toThrow(refusal);
      await chmod(join(directory, key), 0o600);
    }
  });

  test('is none when it is not there yet', async () => {
    await rm(directory, { recursive: true });
    await expect(keep('production')).resolves.toBeUndefined();
  });
});

test('no backup is made of a directory whose data was moved to other engines', async () => {
  const mark = { id: 'm', state: 'moved', rows: ['database'], at: '2026-01-15T12:00:00.000Z' };
  await writeFile(join(directory, 'moved.json'), JSON.stringify(mark));
  await writeFile(join(directory, 'events.db'), '');
  const to = join(directory, 'backup');
  const writing = backupsOf({ DATA_DIR: directory }).write({
    to,
    withKey: false,
    onStep: () => undefined,
  });
  await expect(writing).rejects.toThrow('this copy is old: set DATABASE_URL');
  expect(await readdir(directory)).not.toContain('in-use.db');
});

test('a path is refused as soon as a file of the service might have one that SQLite does not open', async () => {
  const deep = join(directory, ...['a', 'b'].map((name) => name.repeat(200)));
  const longest = join(deep, 'c'.repeat(479 - deep.length));
  await mkdir(longest, { recursive: true });
  await expect(ensureUsable(longest)).resolves.toBeUndefined();
  new DatabaseSync(join(longest, 'read-model-123456789.db')).exec('CREATE TABLE made (at TEXT)');
  await mkdir(`${longest}d`);
  await expect(ensureUsable(`${longest}d`)).rejects.toThrow(
    /^DATA_DIR cannot be used: its path is longer than 480/,
  );
  await expect(ensureUsable(join(deep, 'e'.repeat(300)))).rejects.toThrow('too long: name a shorter one');
});

test('a file that another process removes while the directory is looked at keeps nobody out', async () => {
  await symlink('gone', join(directory, 'read-model-2.db-shm'));
  await expect(ensureUsable(directory)).resolves.toBeUndefined();
});

test.each(['master.key', 'read-model-1.db', 'service.pid', 'administrator-decisions.dead-letter.jsonl'])(
  'a directory in the place of %s is named, with what to do',
  async (name) => {
    const path = join(directory, name);
    await rm(path, { force: true });
    await mkdir(path);
    await expect(ensureUsable(directory)).rejects.toThrow(
      `DATA_DIR cannot be used: ${path} is a directory: move it away, and put the file back that belongs there`,
    );
  },
);

test('so is a file in the place of a directory, but for a link to one', async () => {
  const path = join(directory, 'documents');
  await rm(path, { recursive: true });
  await symlink(tmpdir(), path);
  await expect(ensureUsable(directory)).resolves.toBeUndefined();
  await rm(path);
  await writeFile(path, '');
  await expect(ensureUsable(directory)).rejects.toThrow(`${path} is a file: move it away`);
});
