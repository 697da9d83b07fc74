import { open } from 'node:fs/promises';
import { isNativeError } from 'node:util/types';
import { giveToOwner } from './file-owners.ts';

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

/** A new file that its owner alone can read, on disk when it resolves; its name is after `sync` of its directory. @throws EEXIST */
export const writeDurably = async (path: string, content: string | AsyncIterable<Buffer>): Promise<void> => {
  const file = await open(path, 'wx', 0o600);
  try {
    giveToOwner(path);
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
};

/** What a file holds, or the names in a directory: on disk when it resolves. */
export const sync = async (path: string): Promise<void> => {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};
