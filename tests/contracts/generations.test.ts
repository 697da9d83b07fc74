import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { READ_MODEL_NAMES, keyOf } from '../../application/sql/read-model-tables.ts';
import { SqliteGenerationTables } from '../../infrastructure/sqlite/sqlite-generation-tables.ts';
import { SqliteDatabase } from '../../infrastructure/sqlite/sqlite-database.ts';
import { openReadModel, openServiceDatabase, query, raw } from '../support/sql/temporary-database.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { generationsCases } from './generations-cases.ts';
import { World } from './generations-world.ts';

const NOW = '2026-01-15T12:00:00.000Z';
const logger = new RecordingLogger();

const withWorld = async (check: (world: World, directory: string) => Promise<void>): Promise<void> => {
  const { database: service, close } = await openServiceDatabase();
  const directory = temporaryDirectory();
  const tables = new SqliteGenerationTables(directory, { logger, writes: 'here' }, () => NOW);
  const world = new World({ service, tables });
  try {
    await check(world, directory);
  } finally {
    await world.close();
    await close();
  }
};

/** Places of the read model as versions up to 2026.11.1 kept it. */
const writeOldReadModel = async (directory: string): Promise<void> => {
  const path = join(directory, 'read-model.db');
  const database = await SqliteDatabase.open({ path, synchronous: 'NORMAL', logger });
  await database.transaction([
    raw('create table projection_checkpoint (name text, slot text, version integer, position text) strict'),
    raw(`insert into projection_checkpoint values ('history', 'a', 1, '1')`),
  ]);
  await database.close();
};

describe('generations of the read models on SQLite', () => {
  test.each(generationsCases)('$name', ({ check }) => withWorld(check));

  test('beside what an earlier version left a generation is built, and it is kept until it is dropped', () =>
    withWorld(async (world, directory) => {
      await writeOldReadModel(directory);
      world.append(1);
      expect(await world.upToDate()).toBe(false);
      expect(await world.rebuild('received', { force: true })).toMatchObject({ generation: 1, events: 1 });
      expect(await world.states()).toEqual({ 0: 'old', 1: 'serving' });
      const before = await world.generations().open(0);
      expect(await before.places()).toEqual(new Map([['history', { version: 1, position: '1' }]]));
      await before.database.close();
      expect(await world.generations().dropOld()).toEqual([0]);
      expect(await world.fixture.tables.exists(0)).toBe(false);
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
