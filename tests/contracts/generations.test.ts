import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { migrate } from '../../infrastructure/sql/migrations/migrate.ts';
import { READ_MODEL_NAMES, keyOf } from '../../infrastructure/sql/schema.ts';
import { readModelMigrations } from '../../infrastructure/sql/migrations/read-model.ts';
import { SqliteGenerationTables } from '../../infrastructure/sql/read-models/sqlite-generation-tables.ts';
import { SqliteDatabase } from '../../infrastructure/sql/sqlite-database.ts';
import {
  openReadModel,
  openServiceDatabase,
  query,
  raw,
} from '../infrastructure/sql/support/temporary-database.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { generationsCases } from './generations-cases.ts';
import { World } from './generations-world.ts';

const NOW = '2026-01-15T12:00:00.000Z';
const logger = new RecordingLogger();

const withWorld = async (check: (world: World, directory: string) => Promise<void>): Promise<void> => {
  const { database: service, close } = await openServiceDatabase();
  const directory = await temporaryDirectory();
  const tables = new SqliteGenerationTables(directory.path, { logger, writes: 'here' }, () => NOW);
  const world = new World({ service, tables });
  try {
    await check(world, directory.path);
  } finally {
    await world.close();
    await close();
    await directory.remove();
  }
};

/** The read model as versions up to 2026.11.1 kept it, with the copy that serves. */
const writeOldReadModel = async (directory: string, slot: 'a' | 'b'): Promise<void> => {
  const path = join(directory, 'read-model.db');
  const database = await SqliteDatabase.open({ path, synchronous: 'NORMAL', logger });
  await migrate(database, readModelMigrations.slice(0, -1), NOW);
  await database.transaction([
    raw(`alter table projection_checkpoint add column slot text not null default 'a'`),
    raw(
      `insert into projection_checkpoint (name, version, position, slot) values ('history', 1, '1', ?)`,
      slot,
    ),
    raw(
      `insert into status_history (stream, revision, status, at) values ('loan-app.S1', 1, 'received', ?)`,
      NOW,
    ),
  ]);
  await database.close();
};

describe('generations of the read models on SQLite', () => {
  test.each(generationsCases)('$name', ({ check }) => withWorld(check));

  test('what an earlier version left serves without a rebuild, and gives way to the next generation', () =>
    withWorld(async (world, directory) => {
      await writeOldReadModel(directory, 'a');
      expect(await world.upToDate()).toBe(true);
      const readers = await world.opened();
      expect(await world.rows(readers)).toEqual(['1 received']);
      world.append(2);
      await world.serve('received', readers);
      expect(await world.rebuild('received')).toMatchObject({ generation: 1, differences: 0, events: 2 });
      expect(await world.rows(readers)).toEqual(['1 received', '2 received']);
      expect(await world.generations().dropOld()).toEqual([0]);
    }));

  test('where an earlier version let its second copy serve, a generation is built', () =>
    withWorld(async (world, directory) => {
      await writeOldReadModel(directory, 'b');
      world.append(1);
      expect(await world.upToDate()).toBe(false);
      expect(await world.rebuild('received', { force: true })).toMatchObject({ generation: 1, events: 1 });
      expect(await world.states()).toEqual({ 0: 'old', 1: 'serving' });
    }));

  test('a register without the files, as after a restore, is a new beginning', () =>
    withWorld(async (world) => {
      await world.begin(2);
      await world.close();
      await world.fixture.tables.drop(1);
      expect(await world.upToDate()).toBe(false);
      expect(await world.rebuild('received', { force: true })).toMatchObject({
        outcome: 'switched',
        events: 2,
      });
      expect(await world.rows(await world.opened())).toEqual(['1 received', '2 received']);
    }));

  test('the key of every table is the one that rows are compared by', async () => {
    const { database, close } = await openReadModel();
    type Column = { readonly name: string; readonly pk: number };
    try {
      for (const table of READ_MODEL_NAMES) {
        const columns = await database.read(query<Column>(`select * from pragma_table_info('${table}')`));
        const key = columns.filter(({ pk }) => pk > 0).toSorted((a, b) => a.pk - b.pk);
        expect(keyOf(table)).toEqual(key.map(({ name }) => name));
      }
    } finally {
      await close();
    }
  });
});
