import { expect, test } from '@jest/globals';
import { mkdir, readdir, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { makeDirectory, roomFor, roomIn, sync } from '../../../infrastructure/support/durable-files.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const disk = { blocks: 1_000, bfree: 60, bavail: 10, bsize: 4_096 };

test('what is kept back for root is room for root alone', () => {
  expect(roomIn(disk, true)).toBe(60 * 4_096);
  expect(roomIn(disk, false)).toBe(10 * 4_096);
});

test('a file system without blocks is not full: it tells nothing', () => {
  expect(roomIn({ ...disk, blocks: 0, bfree: 0, bavail: 0 })).toBeUndefined();
});

test('of a directory that is not there it is told', async () => {
  expect(await roomFor('.')).toBeGreaterThan(0);
  await expect(roomFor('/nowhere/at/all')).rejects.toThrow('ENOENT');
});

test('a directory is made with what is missing above it, and one that is there is left', async () => {
  const directory = temporaryDirectory();
  const path = join(directory, 'above', 'below');
  expect((await Promise.all([makeDirectory(path), makeDirectory(path)])).toSorted()).toEqual([false, true]);
  await mkdir(join(path, 'kept'));
  expect(await makeDirectory(path)).toBe(false);
  expect(await readdir(path)).toEqual(['kept']);
  expect((await stat(join(directory, 'above'))).mode & 0o777).toBe(0o700);
});

test('a directory where none can be made is refused at once', async () => {
  const link = join(temporaryDirectory(), 'link');
  await symlink('nowhere', link);
  const below = join(link, 'below');
  await expect(makeDirectory(below)).rejects.toMatchObject({ code: 'ENOENT', path: below });
  // Nobody makes one below what the kernel shows.
  await expect(makeDirectory('/proc/receivables/data')).rejects.toMatchObject({ path: expect.anything() });
});

test('what cannot be brought to the disk is named', async () => {
  await expect(sync('/dev/null')).rejects.toThrow("EINVAL: invalid argument, fsync '/dev/null'");
});
