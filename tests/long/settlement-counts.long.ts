import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Arrivals } from '../bench/arrivals.ts';
import { send, writtenBy } from '../bench/cost-round.ts';
import { followerLag } from '../bench/followers.ts';
import { SettlementWorld } from '../bench/settlement-world.ts';
import { startReceiver } from '../bench/webhook-bench-world.ts';
import type { Receiver } from '../bench/webhook-bench-world.ts';
import { ServiceProcess } from '../support/service-process.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { within } from '../support/within.ts';
import { trusting } from '../support/trusted-receiver.ts';

interface Counts {
  /** Written by the process, to files and to sockets. */
  readonly kibibytes: number;
  readonly writeCalls: number;
  /** Of SQLite, in all threads. */
  readonly statements: number;
  readonly commits: number;
}

/**
 * The most that one settlement may cost, followers and delivery included, at 32 connections: a little above what was measured. Threads
 * that wake each other count as calls, and do so twice as often beside other work.
 */
const MOST: Readonly<Record<'alone' | 'with a subscriber', Counts>> = {
  alone: { kibibytes: 34, writeCalls: 24, statements: 11, commits: 0.55 },
  'with a subscriber': { kibibytes: 58, writeCalls: 36, statements: 16, commits: 0.75 },
};

const [WARM_UP, SETTLEMENTS] = [1_000, 4_000];
/** Noise only adds to a count. */
const ROUNDS = 3;
const KIB = 1_024;

const directory = temporaryDirectory();
let dataDir: string;
let receiver: Receiver;
let service: ServiceProcess;
let world: SettlementWorld;

beforeAll(async () => {
  dataDir = join(directory, 'data');
  receiver = await startReceiver();
  const environment = {
    SANDBOX_STEP: '1ms',
    COUNTS_DIR: directory,
    ...trusting(receiver),
  };
  service = await ServiceProcess.start(dataDir, environment, [
    '--import',
    './tests/bench/statements-preload.mjs',
  ]);
  world = await SettlementWorld.open(service, randomUUID());
});

afterAll(async () => {
  await service.end('SIGTERM');
  receiver.stop();
});

let taken = 0;

/** Of all threads since the last call. */
const statementsOfAll = async (): Promise<Pick<Counts, 'statements' | 'commits'>> => {
  const number = taken++;
  writeFileSync(join(directory, `take-${number}`), '');
  const threads = readdirSync(directory).filter((name) => name.startsWith('thread-'));
  const files = threads.map((name) =>
    join(directory, `counts-${number}-${name.slice('thread-'.length)}.json`),
  );
  await within('every thread tells its counts', 30_000, () => files.every((file) => existsSync(file)));
  const counts = files.map((file) => JSON.parse(readFileSync(file, 'utf8')) as Counts);
  return {
    statements: counts.reduce((sum, { statements }) => sum + statements, 0),
    commits: counts.reduce((sum, { commits }) => sum + commits, 0),
  };
};

const settle = async (count: number, arrived: (count: number) => Promise<unknown>): Promise<void> => {
  const { path, headers, bodies } = await world.take(count);
  const requests = bodies.map((body) => ({ path, headers, body }));
  await followerLag(dataDir);
  await send(service.baseUrl, requests, 200);
  await followerLag(dataDir);
  await arrived(count);
};

const counted = async (arrived: (count: number) => Promise<unknown>): Promise<Counts> => {
  await settle(WARM_UP, arrived);
  const prepared = await world.take(SETTLEMENTS);
  world.giveBack(prepared, 0);
  await followerLag(dataDir);
  await statementsOfAll();
  const before = writtenBy(service.pid!);
  await settle(SETTLEMENTS, arrived);
  const after = writtenBy(service.pid!);
  const { statements, commits } = await statementsOfAll();
  return {
    kibibytes: (after.bytes - before.bytes) / KIB / SETTLEMENTS,
    writeCalls: (after.calls - before.calls) / SETTLEMENTS,
    statements: statements / SETTLEMENTS,
    commits: commits / SETTLEMENTS,
  };
};

const exceeding = (counts: Counts, most: Counts): Partial<Counts> =>
  Object.fromEntries(Object.entries(counts).filter(([name, count]) => count > most[name as keyof Counts]));

const exceededAlways = async (
  most: Counts,
  arrived: (count: number) => Promise<unknown>,
): Promise<Partial<Counts>> => {
  for (let round = 1; ; round++) {
    const found = exceeding(await counted(arrived), most);
    if (round === ROUNDS || Object.keys(found).length === 0) return found;
  }
};

describe('one settlement costs at most so much', () => {
  test('alone', async () => {
    expect(await exceededAlways(MOST.alone, () => Promise.resolve())).toEqual({});
  });

  test('with a subscriber', async () => {
    await world.subscribe(`${receiver.origin}/arrivals`);
    const arrivals = new Arrivals(receiver);
    const found = await exceededAlways(MOST['with a subscriber'], (count) => arrivals.until(count));
    expect(found).toEqual({});
  });
});
