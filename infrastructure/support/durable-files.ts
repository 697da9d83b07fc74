import { open } from 'node:fs/promises';

/** A new file that its owner alone can read, on disk when it resolves; its name is after `syncDirectory`. @throws EEXIST */
export const writeDurably = async (path: string, content: string | AsyncIterable<Buffer>): Promise<void> => {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
};

/** The names in a directory, on disk when it resolves. */
export const syncDirectory = async (path: string): Promise<void> => {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
};
