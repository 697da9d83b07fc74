import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { DatabaseSync } from 'node:sqlite';
import { StoreUnavailableError } from '../../../../application/ports/event-store.ts';
import { ConstraintError, GuardFailedError } from '../../../../application/sql/sql-database.ts';
import { openTemporary, query, raw } from '../../../support/sql/temporary-database.ts';
import type { TemporaryDatabase } from '../../../support/sql/temporary-database.ts';

const WAL_HEADER = 32;
const FRAME_HEADER = 24;

/** Physical commits in a write-ahead log: frames that carry the size of the database after them (sqlite.org/fileformat2.html). */
const committedTransactions = async (databasePath: string): Promise<number> => {
  const wal = await readFile(`${databasePath}-wal`);
  const pageSize = wal.readUInt32BE(8);
  const salt = wal.subarray(16, 24);
  let commits = 0;
  for (let at = WAL_HEADER; at + FRAME_HEADER + pageSize <= wal.length; at += FRAME_HEADER + pageSize) {
    if (!wal.subarray(at + 8, at + 16).equals(salt)) break;
    if (wal.readUInt32BE(at + 4) > 0) commits += 1;
  }
  return commits;
};

const account = {
  id: 'test-001',
  statements: () => [
    'create table owner (id text not null primary key) strict',
    `create table account (id integer not null primary key, owner text references owner (id),
        amount integer not null check (amount >= 0)) strict`,
  ],
};

const add = (id: number, amount = 1) => raw('insert into account (id, amount) values (?, ?)', id, amount);

describe('transactions of a SQLite database', () => {
  let temporary: TemporaryDatabase;
  const ids = async (): Promise<readonly number[]> =>
    (await temporary.database.read(query<{ id: number }>('select id from account order by id'))).map(
      ({ id }) => id,
    );

  beforeAll(async () => {
    temporary = await openTemporary([account]);
  });
  beforeEach(() => temporary.database.transaction([raw('delete from account')]));
  afterAll(() => temporary.close());

  test('where there is no room nothing is stored, and the file is named', async () => {
    const { database, path } = temporary;
    await database.transaction([raw('pragma max_page_count = 1')]);
    const first = raw('insert into account (id, amount) values (1, 1)');
    const filling = raw('insert into owner (id) values (?)', 'x'.repeat(60_000));
    await expect(database.transaction([first, filling])).rejects.toThrow(
      new StoreUnavailableError(`${path} cannot be used: database or disk is full; make room`),
    );
    expect(await ids()).toEqual([]);
    await database.transaction([raw('pragma max_page_count = 1000000')]);
    await database.transaction([first]);
    expect(await ids()).toEqual([1]);
  });

  test('all statements are stored, each with its rows and its count', async () => {
    const results = await temporary.database.transaction([
      add(1, 10),
      raw('insert into account (id, amount) values (2, 20), (3, 30) returning id, amount'),
      raw('update account set amount = amount + 1 where id > 1'),
      raw('select id, amount from account order by id'),
      raw('delete from account where id = 99 returning id'),
    ]);
    expect(results).toEqual([
      { changes: 1, rows: [] },
      {
        changes: 2,
        rows: [
          { id: 2, amount: 20 },
          { id: 3, amount: 30 },
        ],
      },
      { changes: 2, rows: [] },
      {
        changes: 0,
        rows: [
          { id: 1, amount: 10 },
          { id: 2, amount: 21 },
          { id: 3, amount: 31 },
        ],
      },
      { changes: 0, rows: [] },
    ]);
  });

  test.each([
    ['a primary key', raw('insert into account (id, amount) values (1, 1)')],
    ['a foreign key', raw("insert into account (id, owner, amount) values (2, 'nobody', 1)")],
    ['a check', raw('insert into account (id, amount) values (3, -1)')],
  ])('%s that is violated stores nothing', async (_, statement) => {
    await expect(temporary.database.transaction([add(1), statement])).rejects.toBeInstanceOf(ConstraintError);
    expect(await ids()).toEqual([]);
  });

  test('a guard that does not hold names its statement and stores nothing', async () => {
    const guarded = { ...raw('update account set amount = 5 where id = 7'), expectChanges: 1 };
    const failure = temporary.database.transaction([add(1), guarded, add(2)]);
    await expect(failure).rejects.toMatchObject({ name: 'GuardFailedError', index: 1, changes: 0 });
    expect(await ids()).toEqual([]);
  });

  test('a guard that holds lets its transaction through', async () => {
    await temporary.database.transaction([
      { ...add(1), expectChanges: 1 },
      { ...raw('delete from account'), expectChanges: 1 },
    ]);
    expect(await ids()).toEqual([]);
  });

  test('transactions that wait together share one physical commit, and each stands or falls alone', async () => {
    const before = await committedTransactions(temporary.path);
    const guarded = { ...raw('delete from account where id = 1000'), expectChanges: 1 };
    const outcomes = await Promise.allSettled(
      Array.from({ length: 200 }, (_, i) => {
        if (i % 10 === 3) return temporary.database.transaction([add(i), add(i)]);
        if (i % 10 === 6) return temporary.database.transaction([add(i), guarded]);
        if (i % 10 === 9)
          return temporary.database.transaction([add(i), raw('insert into nowhere values (1)')]);
        return temporary.database.transaction([add(i)]);
      }),
    );
    const failed = (kind: object) =>
      expect.objectContaining({ status: 'rejected', reason: expect.objectContaining(kind) });
    expect(outcomes[3]).toEqual(failed({ name: ConstraintError.name }));
    expect(outcomes[6]).toEqual(failed({ name: GuardFailedError.name, index: 1 }));
    expect(outcomes[9]).toEqual(failed({ message: 'no such table: nowhere' }));
    const kept = Array.from({ length: 200 }, (_, i) => i).filter((i) => ![3, 6, 9].includes(i % 10));
    expect(await ids()).toEqual(kept);
    expect(outcomes.flatMap(({ status }, i) => (status === 'fulfilled' ? [i] : []))).toEqual(kept);
    expect((await committedTransactions(temporary.path)) - before).toBe(1);
  });

  test('what comes while the file is busy is committed together afterwards', async () => {
    const other = new DatabaseSync(temporary.path);
    other.exec('begin immediate');
    const before = await committedTransactions(temporary.path);
    const waiting: Promise<unknown>[] = [];
    for (let id = 0; id < 100; id++) {
      waiting.push(temporary.database.transaction([add(id)]));
      await new Promise((resolve) => setImmediate(resolve));
    }
    other.exec('rollback');
    other.close();
    await Promise.all(waiting);
    // The first may have been at the door alone, and a few more messages were sent ahead; all the others came after them.
    expect((await committedTransactions(temporary.path)) - before).toBeLessThanOrEqual(3);
  });

  test('transactions take effect in the order in which they were called', async () => {
    await temporary.database.transaction([add(1, 0)]);
    const steps = Array.from({ length: 50 }, (_, i) =>
      temporary.database.transaction([
        { ...raw('update account set amount = ? where id = 1 and amount = ?', i + 1, i), expectChanges: 1 },
      ]),
    );
    await expect(Promise.all(steps)).resolves.toHaveLength(50);
  });
});
