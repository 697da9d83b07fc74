import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DatabaseSync } from 'node:sqlite';
import { openTemporary, query, raw } from '../../../support/sql/temporary-database.ts';
import type { TemporaryDatabase } from '../../../support/sql/temporary-database.ts';

const anything = {
  id: 'test-001',
  statements: () => ['create table kept (id integer primary key, value any) strict'],
};

describe('values in a SQLite database', () => {
  let temporary: TemporaryDatabase;
  beforeAll(async () => {
    temporary = await openTemporary([anything]);
  });
  afterAll(() => temporary.close());

  const roundTrip = async (value: unknown): Promise<unknown> => {
    const [result] = await temporary.database.transaction([
      raw('insert into kept (value) values (?) returning value', value),
    ]);
    return result?.rows[0]?.value;
  };

  test.each([
    ['the largest integer of JSON', 9_007_199_254_740_991, 9_007_199_254_740_991],
    ['a negative integer', -1, -1],
    ['a decimal', 1.5, 1.5],
    ['text outside ASCII', 'São Paulo \u{1F4B6} \0 end', 'São Paulo \u{1F4B6} \0 end'],
    ['empty text', '', ''],
    ['null', null, null],
    ['true, as every engine stores it', true, 1],
    ['false', false, 0],
    ['bytes', new Uint8Array([0, 1, 255]), new Uint8Array([0, 1, 255])],
    ['a small bigint', 5n, 5],
  ])('%s comes back', async (_, value, expected) => {
    expect(await roundTrip(value)).toEqual(expected);
  });

  test.each([
    ['undefined', undefined],
    ['not a number', NaN],
    ['infinity', Infinity],
    ['a date', new Date(0)],
    ['an object', {}],
  ])('%s is refused before anything is stored', async (_, value) => {
    const before = await temporary.database.read(query('select count(*) as n from kept'));
    await expect(roundTrip(value)).rejects.toBeInstanceOf(TypeError);
    expect(await temporary.database.read(query('select count(*) as n from kept'))).toEqual(before);
  });

  test('an integer that a number cannot hold is an error, never another integer', async () => {
    await expect(roundTrip(9_007_199_254_740_993n)).rejects.toThrow('too large');
  });

  test('columns keep their names when another process changes the table', async () => {
    const insert = raw('insert into kept (id, value) values (900, 1)');
    await temporary.database.transaction([insert, raw('select * from kept where id = 900')]);
    const other = new DatabaseSync(temporary.path);
    other.exec("alter table kept add column note text default 'late'");
    other.close();
    const [result] = await temporary.database.transaction([raw('select * from kept where id = 900')]);
    expect(result?.rows).toEqual([{ id: 900, value: 1, note: 'late' }]);
    expect(await temporary.database.read(query('select * from kept where id = 900'))).toEqual(result?.rows);
  });

  test('the builder refuses to run what it built', async () => {
    await expect(temporary.database.builder.selectFrom('loan').selectAll().execute()).rejects.toThrow(
      'only compiles',
    );
  });
});
