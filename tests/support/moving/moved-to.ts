import { join } from 'node:path';
import { openMove } from '../../../infrastructure/composition/maintenance/migrate.ts';
import { SqliteDatabase } from '../../../infrastructure/sqlite/sqlite-database.ts';
import { RecordingLogger } from '../recording-logger.ts';

type Target = Parameters<typeof openMove>[1];

/** Moves what lies in this directory to an event store. */
export const movedTo = async (store: Target['store'], directory: string): Promise<void> => {
  const path = join(directory, 'target.db');
  const database = await SqliteDatabase.open({ path, synchronous: 'NORMAL', logger: new RecordingLogger() });
  try {
    const move = await openMove(directory, { database, store, documents: undefined });
    await move.execute(() => undefined);
    await move.close();
  } finally {
    await database.close();
  }
};
