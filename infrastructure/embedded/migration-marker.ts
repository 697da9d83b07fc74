import { readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { sync, writeDurably } from '../support/durable-files.ts';

export const MOVED_ROWS = ['event store', 'database', 'documents'] as const;
export type MovedRow = (typeof MOVED_ROWS)[number];

/** Left in a data directory whose contents live elsewhere, or are on the way there. */
export interface MigrationMarker {
  /** The same in the database that they were moved to. */
  readonly id: string;
  readonly state: 'moving' | 'moved';
  readonly rows: readonly MovedRow[];
  readonly at: string;
}

export const MOVED_FILE = 'moved.json';

/** Undefined where nothing was moved. @throws Error the file is damaged */
export const readMigrationMarker = async (dataDir: string): Promise<MigrationMarker | undefined> => {
  const path = join(dataDir, MOVED_FILE);
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    return JSON.parse(text) as MigrationMarker;
  } catch (error) {
    throw new Error(`${path} is damaged`, { cause: error });
  }
};

/** On the disk, whole, when it resolves. */
export const writeMigrationMarker = async (dataDir: string, mark: MigrationMarker): Promise<void> => {
  const path = join(dataDir, MOVED_FILE);
  const draft = `${path}.draft`;
  await rm(draft, { force: true });
  await writeDurably(draft, `${JSON.stringify(mark, undefined, 2)}\n`);
  await rename(draft, path);
  await sync(dataDir);
};
