import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { OutcomeUnknownError, StoreUnavailableError } from '../../../application/ports/event-store.ts';
import { PostgresDatabase } from '../../../infrastructure/postgres/postgres-database.ts';
import type { PostgresOptions } from '../../../infrastructure/postgres/postgres-database.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';
import { PostgresServer } from '../../support/postgres/postgres-server.ts';
import { query, raw, throughPort } from '../../support/postgres/test-postgres.ts';
import { TcpProxy } from '../../support/tcp-proxy.ts';

const PATIENT_MS = 60_000;
const QUICK = { connectTimeoutMs: 1_000, statementTimeoutMs: 1_000, wireTimeoutMs: 1_000 };

/** The server is killed here, so it is always one of our own, and one that waits for its disk. */
let server: PostgresServer;
let proxy: TcpProxy;
let database: PostgresDatabase;
let logger: RecordingLogger;
let next = 0;

const add = (id: number) => raw('insert into entry values ($1)', id);
/** What may be tried until it is answered. */
const addOnce = (id: number) => raw('insert into entry values ($1) on conflict do nothing', id);
const count = query<{ n: number }>('select count(*) as n from entry');
const openThrough = (port: number, options: Partial<PostgresOptions> = {}): Promise<PostgresDatabase> =>
  PostgresDatabase.open({ url: throughPort(server.url, port), logger, ...QUICK, ...options });
const has = async (id: number): Promise<boolean> => {
  const direct = await PostgresDatabase.open({ url: server.url, logger: new RecordingLogger() });
  const rows = await direct.read(query('select 1 from entry where id = $1', id));
  await direct.close();
  return rows.length === 1;
};
const sleepers = async (seconds: number): Promise<number> => {
  const [row] = await database.read(
    query<{ n: number }>(`select count(*) as n from pg_stat_activity
      where query like '%pg_sleep(${seconds})%' and state = 'active' and pid <> pg_backend_pid()`),
  );
  return row!.n;
};
const eventually = async <Result>(act: () => Promise<Result>): Promise<Result> => {
  const deadline = Date.now() + PATIENT_MS;
  for (;;) {
    try {
      return await act();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await delay(20);
    }
  }
};

beforeAll(async () => {
  server = await PostgresServer.start({ durable: true });
  proxy = await TcpProxy.start({ port: server.port });
  logger = new RecordingLogger();
  const direct = await PostgresDatabase.open({ url: server.url, logger });
  await direct.transaction([raw('create table entry (id bigint primary key)')]);
  await direct.close();
});
afterAll(async () => {
  await proxy.close();
  await server.crash();
});
beforeEach(async () => {
  logger = new RecordingLogger();
  await proxy.pass();
  // On a busy machine a connection may take longer than these limits.
  database = await eventually(() => openThrough(proxy.port));
  next += 1_000;
});
afterEach(async () => {
  await proxy.pass();
  await database.close();
});

describe('a PostgreSQL database whose answer does not come', () => {
  test('says that a transaction is of unknown outcome, and it may well be stored', async () => {
    proxy.mute();
    await expect(database.transaction([add(next)])).rejects.toThrow(OutcomeUnknownError);
    await proxy.pass();
    // The server is at it still where it is slow.
    await eventually(async () => expect(await has(next)).toBe(true));
    await eventually(() => database.transaction([addOnce(next + 1)]));
  });

  test('says the same when the connection is cut in the middle, and it may well not be stored', async () => {
    const patient = await openThrough(proxy.port, { statementTimeoutMs: 60_000, wireTimeoutMs: 60_000 });
    const waiting = patient.transaction([add(next), raw('select pg_sleep(30)')]);
    const outcome = expect(waiting).rejects.toThrow(OutcomeUnknownError);
    await eventually(async () => expect(await sleepers(30)).toBe(1));
    proxy.cut();
    await outcome;
    await patient.close();
    await eventually(() => database.transaction([addOnce(next + 1)]));
  });

  test('fails a read, which may then be made again', async () => {
    proxy.mute();
    await expect(database.read(count)).rejects.toThrow(StoreUnavailableError);
    await proxy.pass();
    await eventually(() => database.read(count));
  });

  test('in a black hole says what it says within its limits', async () => {
    proxy.blackhole();
    const before = Date.now();
    await expect(database.transaction([add(next)])).rejects.toThrow(OutcomeUnknownError);
    await expect(database.transaction([add(next)])).rejects.toThrow(StoreUnavailableError);
    expect(Date.now() - before).toBeLessThan(PATIENT_MS);
    proxy.cut();
    await proxy.pass();
    await eventually(() => database.transaction([addOnce(next + 1)]));
  });
});

describe('a PostgreSQL database whose server is away', () => {
  test('refuses calls at once, certain that nothing was stored, and goes on by itself', async () => {
    await database.read(count);
    await proxy.refuse();
    const outcomes = await Promise.allSettled([
      database.transaction([add(next)]),
      database.read(count),
      database.snapshot([count, count]),
    ]);
    for (const outcome of outcomes) expect(outcome).toMatchObject({ status: 'rejected' });
    await expect(database.transaction([add(next)])).rejects.toThrow(StoreUnavailableError);
    await proxy.pass();
    await database.transaction([add(next)]);
    expect(logger.lines.map(({ message }) => message)).toEqual([
      'PostgreSQL connection lost',
      'PostgreSQL answers again',
    ]);
  });

  test('cannot be opened', async () => {
    await proxy.refuse();
    await expect(openThrough(proxy.port)).rejects.toThrow(StoreUnavailableError);
  });

  test('cannot be opened through a black hole, and says so in time', async () => {
    proxy.blackhole();
    const before = Date.now();
    await expect(openThrough(proxy.port)).rejects.toThrow(StoreUnavailableError);
    expect(Date.now() - before).toBeLessThan(PATIENT_MS);
    proxy.cut();
  });
});

describe('a PostgreSQL database with all its connections busy', () => {
  test('lets a bounded number wait for a bounded time', async () => {
    const patient = { connectTimeoutMs: 400, statementTimeoutMs: 60_000, wireTimeoutMs: 60_000 };
    const small = await eventually(() => openThrough(proxy.port, { poolSize: 1, maxWaiting: 3, ...patient }));
    const busy = small.transaction([raw('select pg_sleep(3)')]);
    await eventually(async () => expect(await sleepers(3)).toBe(1));
    const calls = Array.from({ length: 10 }, () => small.transaction([add(next)]));
    const outcomes = await Promise.allSettled(calls);
    const reasons = outcomes.map((outcome) => (outcome as PromiseRejectedResult).reason as Error);
    expect(reasons.every((reason) => reason instanceof StoreUnavailableError)).toBe(true);
    expect(reasons.filter(({ message }) => message.includes('3 calls wait'))).toHaveLength(7);
    await busy;
    await small.transaction([add(next)]);
    await small.close();
  });

  test('finishes what was called before it was closed', async () => {
    const small = await openThrough(server.port, { poolSize: 1 });
    const calls = Array.from({ length: 20 }, (_, n) => small.transaction([add(next + n)]));
    await small.close();
    await Promise.all(calls);
    expect(await has(next + 19)).toBe(true);
    await expect(small.read(count)).rejects.toThrow(StoreUnavailableError);
  });
});

describe('a PostgreSQL server that', () => {
  /** Writes without a pause and keeps account of what it was told. */
  const writeThrough = async (disturb: () => Promise<void>): Promise<void> => {
    const stored = new Set<number>();
    const refused = new Set<number>();
    let going = true;
    const writers = Array.from({ length: 4 }, async (_, lane) => {
      for (let n = 0; going; n++) {
        const id = next + 10_000_000 * (lane + 1) + n;
        try {
          await database.transaction([add(id), add(-id)]);
          stored.add(id);
        } catch (error) {
          if (error instanceof StoreUnavailableError) refused.add(id);
          else if (!(error instanceof OutcomeUnknownError)) throw error;
          await delay(5);
        }
      }
    });
    await eventually(async () => expect(stored.size).toBeGreaterThan(50));
    await disturb();
    const before = stored.size;
    await eventually(async () => expect(stored.size).toBeGreaterThan(before + 50));
    going = false;
    await Promise.all(writers);
    const rows = await database.read(query<{ id: number }>('select id from entry'));
    const found = new Set(rows.map(({ id }) => id));
    expect([...stored].filter((id) => !found.has(id) || !found.has(-id))).toEqual([]);
    expect([...refused].filter((id) => found.has(id) || found.has(-id))).toEqual([]);
    expect([...found].filter((id) => !found.has(-id) && Math.abs(id) > 10_000_000)).toEqual([]);
  };

  test('restarts costs nothing that was answered, and nothing refused is there', async () => {
    await writeThrough(async () => {
      await server.stop();
      await delay(100);
      await server.start();
    });
  });

  test('crashes costs nothing that was answered, and nothing refused is there', async () => {
    await writeThrough(async () => {
      await server.crash();
      await server.start();
    });
  });
});
