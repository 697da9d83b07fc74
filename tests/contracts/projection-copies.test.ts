import { describe, expect, test } from '@jest/globals';
import { READ_MODEL_NAMES, keyOf, physicalName } from '../../infrastructure/sql/read-model-slots.ts';
import { openReadModel, query } from '../infrastructure/sql/support/temporary-database.ts';
import { copiesCases, copiesWorld } from './projection-copies-cases.ts';

describe('two copies of a read model on SQLite', () => {
  test.each(copiesCases)('$name', async ({ check }) => {
    const { database, close } = await openReadModel();
    await check(copiesWorld(database)).finally(close);
  });

  test('every table has a second copy with the same columns, key and indexes', async () => {
    const { database, close } = await openReadModel();
    type Column = { readonly name: string; readonly pk: number };
    const columns = (table: string) =>
      database.read(query<Column>(`select * from pragma_table_info('${table}')`));
    const indexes = async (table: string) =>
      (await database.read(query(`select 1 from pragma_index_list('${table}')`))).length;
    try {
      for (const table of READ_MODEL_NAMES) {
        const copy = physicalName(table, 'b');
        const found = await columns(table);
        expect(await columns(copy)).toEqual(found);
        expect(await indexes(copy)).toBe(await indexes(table));
        const key = found.filter(({ pk }) => pk > 0).toSorted((a, b) => a.pk - b.pk);
        expect(keyOf(table)).toEqual(key.map(({ name }) => name));
      }
    } finally {
      await close();
    }
  });
});
