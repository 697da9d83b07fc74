import { statfs } from 'node:fs/promises';
import type { StatsFs } from 'node:fs';

type Stats = Pick<StatsFs, 'bavail' | 'bfree' | 'blocks' | 'bsize'>;

/** What a file system keeps back for root is room for root; one that has no blocks tells nothing. */
export const roomIn = (
  { bavail, bfree, blocks, bsize }: Stats,
  root = process.getuid?.() === 0,
): number | undefined => (blocks > 0 ? (root ? bfree : bavail) * bsize : undefined);

/** Bytes that this process can still write into the directory. */
export const roomFor = async (directory: string): Promise<number | undefined> =>
  roomIn(await statfs(directory));
