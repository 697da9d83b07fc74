import { expect, test } from '@jest/globals';
import { StoredFormats } from '../../../application/event-codec/stored-formats.ts';
import { openServiceDatabase, query, raw } from '../../support/sql/temporary-database.ts';

test('a store that an earlier release filled is written for it until nothing of that release runs', async () => {
  const { database, close } = await openServiceDatabase();
  let now = 0;
  const formats = new StoredFormats(database, () => now);
  const asked = async () => [
    await formats.forEarlierRelease(),
    await formats.forReleaseWithoutNames(),
    await formats.forReleaseWithoutDesk(),
  ];
  try {
    expect((await database.read(query('select level from stored_format order by level'))).length).toBe(3);
    await database.transaction([raw('delete from stored_format')]);
    expect(await asked()).toEqual([true, true, true]);
    await database.transaction([raw('insert into stored_format values (2)')]);
    expect(await asked()).toEqual([true, true, true]);
    now += 5_000;
    expect(await asked()).toEqual([false, true, true]);
    await database.transaction([raw('insert into stored_format values (3)')]);
    now += 5_000;
    expect(await asked()).toEqual([false, false, true]);
    await new StoredFormats(database).leaveEarlierRelease();
    expect(await asked()).toEqual([false, false, true]);
    now += 5_000;
    expect(await asked()).toEqual([false, false, false]);
    await database.transaction([raw('delete from stored_format')]);
    expect(await asked()).toEqual([false, false, false]);
  } finally {
    await close();
  }
});
