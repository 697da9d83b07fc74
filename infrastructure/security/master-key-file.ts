import { link, mkdir, open, readFile, unlink } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { isNativeError } from 'node:util/types';
import { MasterKey } from './master-key.ts';

const FILE_NAME = 'master.key';

/**
 * The sandbox's master key, kept in a file of the data directory that only its owner can read; made on first need. When two
 * processes start at once, both get the same key.
 */
export const masterKeyFromFile = async (dataDir: string): Promise<MasterKey> => {
  const path = join(dataDir, FILE_NAME);
  const text = (await readIfThere(path)) ?? (await create(dataDir, path));
  const key = MasterKey.parse(text.trim());
  if (key === undefined) throw new Error(`${path} does not hold a master key (32 bytes in base64)`);
  return key;
};

const readIfThere = async (path: string): Promise<string | undefined> => {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
};

/** A hard link appears with its whole content or not at all, and only for the first who asks. */
const create = async (dataDir: string, path: string): Promise<string> => {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const draft = `${path}.${randomUUID()}`;
  await writeDurably(draft, `${MasterKey.generate().base64}\n`);
  try {
    await link(draft, path);
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  } finally {
    await unlink(draft);
  }
  await syncDirectory(dataDir);
  return readFile(path, 'utf8');
};

const writeDurably = async (path: string, text: string): Promise<void> => {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
};

const syncDirectory = async (path: string): Promise<void> => {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
};

const hasCode = (error: unknown, code: string): boolean =>
  isNativeError(error) && 'code' in error && error.code === code;
