import { copyFile } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Connection } from '../../../../infrastructure/sqlite/connection.ts';
import { flatten } from '../../../../infrastructure/sqlite/sqlite-database.ts';
import type { FlatUnit } from '../../../../infrastructure/sqlite/units.ts';
import { writeGroup } from '../../../../infrastructure/sqlite/units.ts';
import { openTemporary, raw } from '../../../support/sql/temporary-database.ts';
import type { TemporaryDatabase } from '../../../support/sql/temporary-database.ts';
import { within } from '../../../support/within.ts';

const FULL = 2;
const NORMAL = 1;
const note = {
  id: 'test-001',
  statements: () => ['create table note (id integer not null primary key) strict'],
};
const unit = (id: number, relaxed: boolean): FlatUnit => ({
  ...flatten([raw('insert into note (id) values (?)', id)]),
  relaxed,
});

let temporary: TemporaryDatabase;
beforeEach(async () => {
  temporary = await openTemporary([note], { synchronous: 'FULL' });
});
afterEach(() => temporary.close());

describe('a group of transactions waits for the disk', () => {
  test.each([
    ['when one of them asks for it', [true, false, true], 'FULL', FULL],
    ['not when all of them can do without', [true, true], 'FULL', NORMAL],
    ['never where the whole file can be rebuilt', [false], 'NORMAL', NORMAL],
  ] as const)('%s', (_, relaxed, synchronous, level) => {
    const connection = new Connection({
      path: temporary.path,
      role: 'writer',
      synchronous,
      busyTimeoutMs: 1_000,
    });
    const levelAfter = (id: number, ...units: readonly boolean[]): unknown => {
      const outcomes = writeGroup(
        connection,
        units.map((one, index) => unit(id + index, one)),
      );
      expect(outcomes.every((outcome) => 'changes' in outcome)).toBe(true);
      return connection.execute('PRAGMA synchronous').values[0];
    };
    // Again and again: what a group asks for must hold whatever the one before it asked for.
    for (let id = 0; id < 100; id += 10) {
      expect(levelAfter(id, ...relaxed)).toBe(level);
      expect(levelAfter(id + 5, false)).toBe(synchronous === 'FULL' ? FULL : NORMAL);
    }
    connection.close();
  });
});

describe('a relaxed transaction', () => {
  const idsIn = (path: string): readonly unknown[] => {
    const database = new DatabaseSync(path, { readOnly: true });
    const rows = database.prepare('select id from note order by id').all();
    database.close();
    return rows.map(({ id }) => id);
  };

  test('can be read at once, and is moved into the file soon although nothing else is written', async () => {
    const { database, path } = temporary;
    await database.transaction([raw('insert into note (id) values (7)')], { durability: 'relaxed' });
    expect(idsIn(path)).toEqual([7]);
    // The file without its log holds only what a checkpoint has flushed.
    const copy = `${path}.copy`;
    const flushed = async (): Promise<readonly unknown[]> => {
      await copyFile(path, copy);
      try {
        return idsIn(copy);
      } catch {
        return [];
      }
    };
    await within('it is flushed', 60_000, async () => (await flushed()).length > 0);
    expect(await flushed()).toEqual([7]);
  });
});
