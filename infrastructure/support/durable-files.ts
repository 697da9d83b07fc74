import { closeSync, existsSync, lchownSync, openSync, statSync } from 'node:fs';
import { mkdir, open, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isNativeError } from 'node:util/types';
import type { StatsFs } from 'node:fs';

/** As Node.js names what the operating system said. */
export const hasCode = (error: unknown, code: string): boolean =>
  isNativeError(error) && 'code' in error && error.code === code;

/** Undefined where there is no such file or directory. */
export const ifThere = async <Result>(result: Promise<Result>): Promise<Result | undefined> => {
  try {
    return await result;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
};

/** What the operating system says while a file is written does not name it: the error does, and says what to do where there is no room. */
export const naming = async <Result>(path: string, writing: Promise<Result>): Promise<Result> => {
  try {
    return await writing;
  } catch (error) {
    if (!isNativeError(error) || !('code' in error) || 'path' in error) throw error;
    const advice = error.code === 'ENOSPC' ? ': make room on its disk' : '';
    throw Object.assign(error, { path, message: `${error.message} '${path}'${advice}` });
  }
};

/**
 * Its owner's alone, with what is missing above it. `recursive` of Node.js says ENOENT for any trouble of the disk, and where the parent is
 * there and takes nothing, as in /proc or behind a link that leads nowhere, it tries for ever, or names the wrong path.
 * @returns false where something of that name was there
 */
export const makeDirectory = async (path: string): Promise<boolean> => {
  const make = async (): Promise<boolean> => {
    try {
      await mkdir(path, { mode: 0o700 });
      return true;
    } catch (error) {
      if (hasCode(error, 'EEXIST')) return false;
      throw error;
    }
  };
  try {
    return await make();
  } catch (error) {
    if (!hasCode(error, 'ENOENT') || dirname(path) === path) throw error;
    await makeDirectory(dirname(path));
    return make();
  }
};

const isRoot = (): boolean => process.getuid?.() === 0;

/** What root makes in a directory of the service's user is that user's, who could not open it otherwise. */
export const giveToOwner = (path: string): void => {
  if (!isRoot()) return;
  const { uid, gid } = statSync(dirname(path));
  lchownSync(path, uid, gid);
};

/**
 * The same before a new file is made: SQLite gives what it makes beside a database to whoever has that. One that is there is not even
 * opened, because closing it would end the locks that this process has on it.
 */
export const makeForOwner = (path: string): void => {
  if (!isRoot() || existsSync(path)) return;
  closeSync(openSync(path, 'a', 0o600));
  giveToOwner(path);
};

/** A new file that its owner alone can read, on disk when it resolves; its name is after `sync` of its directory. @throws EEXIST */
export const writeDurably = async (path: string, content: string | AsyncIterable<Buffer>): Promise<void> => {
  const file = await open(path, 'wx', 0o600);
  try {
    giveToOwner(path);
    await naming(path, file.writeFile(content));
    await naming(path, file.sync());
  } finally {
    await file.close();
  }
};

/** What a file holds, or the names in a directory: on disk when it resolves. */
export const sync = async (path: string): Promise<void> => {
  const handle = await open(path, 'r');
  try {
    await naming(path, handle.sync());
  } finally {
    await handle.close();
  }
};

type Stats = Pick<StatsFs, 'bavail' | 'bfree' | 'blocks' | 'bsize'>;

/** What a file system keeps back for root is room for root; one that has no blocks tells nothing. */
export const roomIn = (
  { bavail, bfree, blocks, bsize }: Stats,
  root = process.getuid?.() === 0,
): number | undefined => (blocks > 0 ? (root ? bfree : bavail) * bsize : undefined);

/** Bytes that this process can still write into the directory. */
export const roomFor = async (directory: string): Promise<number | undefined> =>
  roomIn(await statfs(directory));
