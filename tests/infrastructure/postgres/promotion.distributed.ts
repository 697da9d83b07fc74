import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { OutcomeUnknownError, StoreUnavailableError } from '../../../application/ports/event-store.ts';
import {
  losesAtFailover,
  oldestTransaction,
  standbySettings,
} from '../../../infrastructure/postgres/postgres-safety.ts';
import { PostgresDatabase } from '../../../infrastructure/postgres/postgres-database.ts';
import { holdSnapshot } from '../../support/postgres/held-snapshot.ts';
import { PostgresServer } from '../../support/postgres/postgres-server.ts';
import { query, raw, severalServers } from '../../support/postgres/test-postgres.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';
import { within } from '../../support/within.ts';

let primary: PostgresServer;
let standby: PostgresServer;
let database: PostgresDatabase;

const open = (url: string): Promise<PostgresDatabase> =>
  PostgresDatabase.open({ url, logger: new RecordingLogger(), connectTimeoutMs: 2_000 });
const add = (id: number) => raw('insert into entry values ($1)', id);
const idsIn = async (one: PostgresDatabase): Promise<readonly number[]> =>
  (await one.read(query<{ id: number }>('select id from entry order by id'))).map(({ id }) => id);

beforeEach(async () => {
  primary = await PostgresServer.start();
  const first = await open(primary.url);
  expect(losesAtFailover((await standbySettings(first))!)).toBe(true);
  await first.transaction([raw('create table entry (id bigint primary key)')]);
  await first.transaction([raw('create table webhook_lane (lane text)')]);
  await first.close();
  standby = await primary.synchronousStandby();
  // The standby comes first, and is passed by.
  database = await open(severalServers(standby, primary));
}, 300_000);
afterEach(async () => {
  await database?.close();
  await standby?.crash();
  await primary?.crash();
});

/** Writes one row after the other, each until it is stored for certain; answers those that were. */
const writeUntil = async (stop: () => boolean): Promise<readonly number[]> => {
  const stored: number[] = [];
  for (let id = 0; !stop();) {
    try {
      await database.transaction([raw('insert into entry values ($1) on conflict do nothing', id)]);
      stored.push(id++);
    } catch (error) {
      if (!(error instanceof StoreUnavailableError || error instanceof OutcomeUnknownError)) throw error;
      await delay(10);
    }
  }
  return stored;
};

test('what was answered before a promotion is there after it, and writes go on by the same address', async () => {
  expect(losesAtFailover((await standbySettings(database))!)).toBe(false);
  let done = false;
  const writing = writeUntil(() => done);
  while ((await idsIn(database)).length < 20) await delay(20);
  await primary.crash();
  await standby.promote();
  const direct = await open(standby.url);
  const before = (await idsIn(direct)).length;
  while ((await idsIn(direct)).length < before + 20) await delay(20);
  done = true;
  const stored = await writing;
  expect(before).toBeGreaterThan(0);
  expect(await idsIn(direct)).toEqual(expect.arrayContaining([...stored]));
  await direct.close();
}, 300_000);

test('a server that has become read-only is left at once, with every idle connection to it', async () => {
  await Promise.all(Array.from({ length: 8 }, (_, id) => database.transaction([add(id)])));
  await standby.promote();
  await primary.refuseWrites();
  const direct = await open(standby.url);
  // The servers do not reload their settings in the same moment.
  const writing = async (): Promise<void> => {
    for (let id = 100; !(await idsIn(direct)).includes(id - 1); id++) await database.transaction([add(id)]);
  };
  await writing();
  await Promise.all(Array.from({ length: 8 }, (_, id) => database.transaction([add(1_000 + id)])));
  expect((await idsIn(direct)).filter((id) => id >= 1_000)).toHaveLength(8);
  await direct.close();
}, 300_000);

test('a standby alone is refused; a transaction that is held open is seen; processes tell the time of the server', async () => {
  await expect(open(standby.url)).rejects.toThrow('standby');
  // The server's own work, such as autovacuum, may hold one open for a moment.
  await within(
    'no transaction is held open',
    30_000,
    async () => (await oldestTransaction(database))!.seconds === 0,
  );
  expect(await oldestTransaction(database)).toMatchObject({ seesAll: true });
  const held = await holdSnapshot(primary.url);
  await delay(1_100);
  expect((await oldestTransaction(database))!.seconds).toBeGreaterThanOrEqual(1);
  await held.release();
  // Its clock is asked for between two looks at what the process takes for its time.
  const earliest = database.now() - 5_000;
  const [row] = await database.read(
    query<{ now: number }>('select floor(extract(epoch from clock_timestamp()) * 1000) as now'),
  );
  expect(Number(row!.now)).toBeGreaterThan(earliest);
  expect(Number(row!.now)).toBeLessThan(database.now() + 5_000);
}, 300_000);
