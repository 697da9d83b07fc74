import { open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';

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
  const draft = await open(`${path}.draft`, 'w', 0o600);
  try {
    await draft.writeFile(`${JSON.stringify(mark, undefined, 2)}\n`);
    await draft.sync();
  } finally {
    await draft.close();
  }
  await rename(`${path}.draft`, path);
  const directory = await open(dataDir, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
};
