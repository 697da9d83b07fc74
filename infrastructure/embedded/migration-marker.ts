import { readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ifThere, sync, writeDurably } from '../support/durable-files.ts';

export type MovedRow = 'event store' | 'database' | 'documents';

/** Left in a data directory whose contents live elsewhere, or are on the way there. */
export interface MigrationMarker {
  /** Id of the move, which the database that received the data has as well. */
  readonly id: string;
  readonly state: 'moving' | 'moved';
  readonly rows: readonly MovedRow[];
  readonly at: string;
}

export const MOVED_FILE = 'moved.json';

/** Undefined where nothing was moved. @throws Error the file is damaged */
export const readMigrationMarker = async (dataDir: string): Promise<MigrationMarker | undefined> => {
  const path = join(dataDir, MOVED_FILE);
  const text = await ifThere(readFile(path, 'utf8'));
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as MigrationMarker;
  } catch (error) {
    throw new Error(
      `${path} is damaged: remove it only if nothing of this directory was ever moved to other engines`,
      { cause: error },
    );
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
