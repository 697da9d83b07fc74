import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { join } from 'node:path';
import { Connection } from '../../../../infrastructure/sqlite/connection.ts';
import { flatten } from '../../../../infrastructure/sqlite/sqlite-database.ts';
import { UnitWriter } from '../../../../infrastructure/sqlite/units.ts';
import { raw } from '../../../support/sql/temporary-database.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

const FULL = Object.assign(new Error('database or disk is full'), { errcode: 13 });
const FAILED = Object.assign(new Error('disk I/O error'), { errcode: 10 });

/** Its disk is met full, or broken, where a commit writes to the log and where a checkpoint writes to the file. */
class TroubledConnection extends Connection {
  trouble: Error | undefined;

  override execute(...call: Parameters<Connection['execute']>): ReturnType<Connection['execute']> {
    if (call[0] === 'commit' && this.trouble) throw this.trouble;
    return super.execute(...call);
  }

  override checkpoint(): void {
    if (this.trouble) throw this.trouble;
    super.checkpoint();
  }
}

let directory: string;
let path: string;
let connection: TroubledConnection;
let writer: UnitWriter;
const add = (id: number) => flatten([raw('insert into entry (id) values (?)', id)]);
const ids = (): readonly unknown[] => connection.execute('select id from entry order by id').values;

beforeEach(async () => {
  directory = temporaryDirectory();
  path = join(directory, 'test.db');
  connection = new TroubledConnection({ path, role: 'writer', synchronous: 'FULL', busyTimeoutMs: 1_000 });
  connection.execute('create table entry (id integer primary key) strict');
  writer = new UnitWriter(connection);
});
afterEach(async () => {
  jest.useRealTimers();
  writer.close();
});

test.each([
  ['together', [add(1), add(2)], 2],
  ['apart', [add(1), add(1), add(2)], 3],
])('a commit that meets a full disk stores nothing and names the file: units %s', (_, units, count) => {
  connection.trouble = FULL;
  const message = `${path} cannot be used: database or disk is full; make room`;
  expect(writer.carryOut(units)).toEqual(
    Array.from({ length: count }, () => ({ kind: 'unavailable', message })),
  );
  connection.trouble = undefined;
  expect(ids()).toEqual([]);
  expect(writer.carryOut([add(3)])).toMatchObject([{ changes: [1] }]);
  expect(ids()).toEqual([3]);
});

test('a commit of which it is unknown what it stored names the file, too', () => {
  connection.trouble = FAILED;
  expect(() => writer.carryOut([add(1)])).toThrow(
    `${path} cannot be used: disk I/O error; look at the disk, and at the room on it`,
  );
});

test('what could not be flushed to a full disk is flushed when there is room', () => {
  jest.useFakeTimers();
  writer.carryOut([{ ...add(1), relaxed: true }]);
  writer.afterwards();
  connection.trouble = FULL;
  jest.advanceTimersByTime(3_000);
  expect(connection.unflushed).toBe(true);
  connection.trouble = undefined;
  jest.advanceTimersByTime(1_000);
  expect(connection.unflushed).toBe(false);
});
