import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DatabaseSync } from 'node:sqlite';
import { openTemporary, query, raw } from '../../../support/sql/temporary-database.ts';
import type { TemporaryDatabase } from '../../../support/sql/temporary-database.ts';

const pair = {
  id: 'test-001',
  statements: () => [
    'create table pair (id integer primary key, a integer, b integer) strict',
    'insert into pair values (1, 0, 0)',
  ],
};
const set = (n: number) => [raw('update pair set a = ?', n), raw('update pair set b = ?', n)];
const a = query<{ a: number }>('select a from pair');
const b = query<{ b: number }>('select b from pair');

describe('reads of a SQLite database', () => {
  let temporary: TemporaryDatabase;
  beforeAll(async () => {
    temporary = await openTemporary([pair]);
  });
  afterAll(() => temporary.close());

  test('a read sees every transaction that was answered before it', async () => {
    for (let n = 1; n <= 200; n++) {
      await temporary.database.transaction(set(n));
      expect(await temporary.database.read(a)).toEqual([{ a: n }]);
    }
  });

  test('a snapshot never mixes two states, however fast they follow', async () => {
    let writing = true;
    const writer = (async () => {
      for (let n = 0; n < 60; n++) await temporary.database.transaction(set(n));
      writing = false;
    })();
    const seen = new Set<number>();
    while (writing) {
      const [[first], [second]] = await temporary.database.snapshot([a, b]);
      expect(second?.b).toBe(first?.a);
      seen.add(first!.a);
    }
    await writer;
    expect(seen.size).toBeGreaterThan(5);
  });

  test('a failing read fails alone', async () => {
    const [good, bad, alsoGood] = await Promise.allSettled([
      temporary.database.read(a),
      temporary.database.read(query('select nothing from nowhere')),
      temporary.database.read(b),
    ]);
    expect([good.status, bad.status, alsoGood.status]).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });

  test('a read cannot write', async () => {
    const before = await temporary.database.read(a);
    await expect(temporary.database.read(query('update pair set a = -1 returning a'))).rejects.toThrow(
      'readonly',
    );
    expect(await temporary.database.read(a)).toEqual(before);
  });

  test('reads go on while another process holds the file for writing, and the write waits for it', async () => {
    const other = new DatabaseSync(temporary.path);
    try {
      other.exec('begin immediate; update pair set a = 77');
      let written = false;
      const write = temporary.database
        .transaction([raw('update pair set b = 78')])
        .then(() => (written = true));
      const [row] = await temporary.database.read(query<{ a: number }>('select a from pair'));
      expect(row?.a).not.toBe(77);
      expect(written).toBe(false);
      other.exec('commit');
      await write;
    } finally {
      other.close();
    }
    expect(await temporary.database.read(query('select a, b from pair'))).toEqual([{ a: 77, b: 78 }]);
  });
});
