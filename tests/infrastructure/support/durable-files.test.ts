import { expect, test } from '@jest/globals';
import { roomFor, roomIn } from '../../../infrastructure/support/durable-files.ts';

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
