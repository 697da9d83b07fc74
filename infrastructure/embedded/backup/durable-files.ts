import { copyFile, mkdir, open, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';

const hasCode = (error: unknown, code: string): boolean => (error as NodeJS.ErrnoException).code === code;

/** To the disk: a file, or the names in a directory. */
export const sync = async (path: string): Promise<void> => {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};

/** Files below a directory, `/` between names; none when it is not there. Names that begin with a dot are drafts. */
export const filesBelow = async (root: string, below: string): Promise<readonly string[]> => {
  try {
    const entries = await readdir(join(root, below), { withFileTypes: true });
    const nested = entries
      .filter(({ name }) => !name.startsWith('.'))
      .map((entry) => {
        const path = `${below}/${entry.name}`;
        return entry.isDirectory() ? filesBelow(root, path) : Promise.resolve([path]);
      });
    return (await Promise.all(nested)).flat().toSorted();
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  }
};

/** False when it has just been removed. */
export const copyDurably = async (source: string, target: string): Promise<boolean> => {
  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  try {
    await copyFile(source, target);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false;
    throw error;
  }
  await sync(target);
  await sync(dirname(target));
  return true;
};

/** What is in a directory; undefined when there is none. */
export const namesIn = async (directory: string): Promise<readonly string[] | undefined> => {
  try {
    return await readdir(directory);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
};
