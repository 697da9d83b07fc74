import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { DatabaseSync } from 'node:sqlite';
import type { Worker } from 'node:worker_threads';
import { OutcomeUnknownError, StoreUnavailableError } from '../../../../application/ports/event-store.ts';
import { SqliteDatabase } from '../../../../infrastructure/sqlite/sqlite-database.ts';
import { RecordingLogger } from '../../../support/recording-logger.ts';
import { onThreadStarted } from '../../../support/started-threads.ts';
import { openTemporary, query, raw } from '../../../support/sql/temporary-database.ts';
import type { TemporaryDatabase } from '../../../support/sql/temporary-database.ts';

const entry = {
  id: 'test-001',
  statements: () => ['create table entry (id integer primary key) strict'],
};
const add = (id: number) => [raw('insert into entry (id) values (?)', id)];
const all = query<{ id: number }>('select id from entry order by id');

const eventually = async <T>(attempt: () => Promise<T>): Promise<T> => {
  const deadline = performance.now() + 60_000;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
};

describe('the life of a SQLite database', () => {
  let temporary: TemporaryDatabase;
  let threads: Worker[];
  let forget: () => void;
  const writer = (): Worker => threads.at(-1)!;

  beforeEach(async () => {
    threads = [];
    forget = onThreadStarted((worker) => threads.push(worker));
    temporary = await openTemporary([entry], { busyTimeoutMs: 300 });
  });
  afterEach(async () => {
    forget();
    await temporary.close();
  });

  test.each([
    ['FULL', 2],
    ['NORMAL', 1],
  ] as const)('opens with a write-ahead log, foreign keys and synchronous %s', async (synchronous, level) => {
    const { path, logger } = temporary;
    const database = await SqliteDatabase.open({ path, synchronous, logger });
    const pragmas = ['journal_mode', 'foreign_keys', 'synchronous'].map((name) => raw(`pragma ${name}`));
    const results = await database.transaction(pragmas);
    await database.close();
    expect(results.map(({ rows }) => rows[0])).toEqual([
      { journal_mode: 'wal' },
      { foreign_keys: 1 },
      { synchronous: level },
    ]);
  });

  test('closing finishes what was called before it, and refuses what comes after', async () => {
    const calls = Array.from({ length: 300 }, (_, i) => temporary.database.transaction(add(i)));
    const reads = Array.from({ length: 10 }, () => temporary.database.read(all));
    await Promise.all([temporary.database.close(), temporary.database.close()]);
    await expect(Promise.all([...calls, ...reads])).resolves.toHaveLength(310);
    await expect(temporary.database.transaction(add(999))).rejects.toBeInstanceOf(StoreUnavailableError);
    await expect(temporary.database.read(all)).rejects.toThrow('closed');
    const again = new DatabaseSync(temporary.path);
    expect(again.prepare('select count(*) as n from entry').get()).toEqual({ n: 300 });
    again.close();
  });

  test('a file that another process holds for too long makes the call fail, with nothing stored', async () => {
    const other = new DatabaseSync(temporary.path);
    other.exec('begin immediate');
    await expect(temporary.database.transaction(add(1))).rejects.toBeInstanceOf(StoreUnavailableError);
    other.exec('rollback');
    other.close();
    await temporary.database.transaction(add(2));
    expect(await temporary.database.read(all)).toEqual([{ id: 2 }]);
  });

  test('a writer that dies leaves its pending calls in doubt, and comes back for those that wait', async () => {
    await temporary.database.transaction(add(1));
    const other = new DatabaseSync(temporary.path);
    other.exec('begin immediate');
    const sent = jest.spyOn(writer(), 'postMessage');
    const pending = [2, 3].map((id) => temporary.database.transaction(add(id)));
    const outcomes = Promise.allSettled(pending);
    while (sent.mock.calls.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    await writer().terminate();
    for (const outcome of await outcomes) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { name: OutcomeUnknownError.name } });
    }
    const waiting = temporary.database.transaction(add(4));
    other.exec('rollback');
    other.close();
    await waiting;
    expect((await temporary.database.read(all)).filter(({ id }) => id === 1 || id === 4)).toHaveLength(2);
    expect(temporary.logger.lines.map(({ message }) => message)).toEqual([
      'database thread ended, starting it again',
      'database thread started again',
    ]);
  });

  test('a commit that fails is answered to nobody as a success, and the next one works', async () => {
    const owed = 'create table owed (id integer references entry (id) deferrable initially deferred) strict';
    await temporary.database.transaction([raw(owed)]);
    const outcomes = await Promise.allSettled([
      temporary.database.transaction(add(1)),
      temporary.database.transaction([raw('insert into owed (id) values (404)')]),
    ]);
    for (const outcome of outcomes)
      expect(outcome).toMatchObject({ reason: { name: OutcomeUnknownError.name } });
    await eventually(() => temporary.database.transaction(add(2)));
    expect(await temporary.database.read(all)).toEqual([{ id: 2 }]);
  });

  test('closing while a thread is down does not wait for it', async () => {
    await writer().terminate();
    await temporary.database.close();
    await expect(temporary.database.transaction(add(1))).rejects.toBeInstanceOf(StoreUnavailableError);
  });

  test('all that make a new file at the same moment get to open it', async () => {
    const options = {
      path: `${temporary.path}.new`,
      synchronous: 'NORMAL',
      logger: new RecordingLogger(),
    } as const;
    const databases = await Promise.all([1, 2, 3, 4].map(() => SqliteDatabase.open(options)));
    const modes = await Promise.all(databases.map((one) => one.transaction([raw('pragma journal_mode')])));
    await Promise.all(databases.map((one) => one.close()));
    expect(modes.map(([mode]) => mode?.rows)).toEqual([1, 2, 3, 4].map(() => [{ journal_mode: 'wal' }]));
  });

  test('a path that is no file is refused at once, with the reason', async () => {
    const open = SqliteDatabase.open({ path: '/', synchronous: 'FULL', logger: new RecordingLogger() });
    await expect(open).rejects.toThrow('unable to open database file');
  });
});
