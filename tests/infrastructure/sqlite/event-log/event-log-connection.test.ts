import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from '@jest/globals';
import { migrate } from '../../../../infrastructure/sqlite/event-log/event-log-threads.ts';

const FIRST = 'CREATE TABLE a (x)';
const SECOND = 'CREATE TABLE b (y); INSERT INTO b VALUES (1)';

const tables = (db: DatabaseSync): readonly unknown[] =>
  db
    .prepare(`SELECT name FROM sqlite_schema ORDER BY name`)
    .all()
    .map(({ name }) => name);

const version = (db: DatabaseSync): unknown => db.prepare('PRAGMA user_version').get()?.['user_version'];

describe('the schema of the event log', () => {
  test('is brought forward step by step, each step once', () => {
    const db = new DatabaseSync(':memory:');
    migrate(db, [FIRST]);
    expect([tables(db), version(db)]).toEqual([['a'], 1]);
    migrate(db, [FIRST, SECOND]);
    migrate(db, [FIRST, SECOND]);
    expect([tables(db), version(db)]).toEqual([['a', 'b'], 2]);
    expect(db.prepare('SELECT count(*) AS n FROM b').get()).toEqual({ n: 1 });
  });

  test('stays as it was when a step fails', () => {
    const db = new DatabaseSync(':memory:');
    migrate(db, [FIRST]);
    expect(() => migrate(db, [FIRST, `${SECOND}; SELECT nonsense`])).toThrow('nonsense');
    expect([tables(db), version(db)]).toEqual([['a'], 1]);
  });

  test('is left alone when it is newer than the program', () => {
    const db = new DatabaseSync(':memory:');
    migrate(db, [FIRST, SECOND]);
    expect(() => migrate(db, [FIRST])).toThrow('has schema version 2, this program knows versions up to 1');
    expect(version(db)).toBe(2);
  });
});
