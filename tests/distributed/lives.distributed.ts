import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { undescribed } from '../lives/described.ts';
import { liveAll } from '../lives/live.ts';
import { failuresOf, livesFrom } from '../lives/smallest.ts';
import { livesAtDesks } from '../lives/steps.ts';
import { World } from '../lives/world.ts';
import { StandInProcess } from '../support/eventstoredb/stand-in-process.ts';
import { testPostgres } from '../support/postgres/test-postgres.ts';
import type { TestPostgres } from '../support/postgres/test-postgres.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const CLI = ['--disable-warning=ExperimentalWarning', 'infrastructure/composition/receivables.ts', 'migrate'];
const LIVES = 20;
const SEED = Number(process.env['SEED'] ?? 1);

let postgres: TestPostgres;
const closing: (() => Promise<void>)[] = [];

beforeAll(async () => {
  postgres = await testPostgres();
}, 300_000);
afterAll(async () => {
  for (const close of closing.reverse()) await close();
  await postgres?.close();
});

/** A schema and an event store of their own. */
const engines = async (): Promise<Readonly<Record<string, string>>> => {
  const store = await StandInProcess.start();
  closing.push(() => store.kill());
  return { DATABASE_URL: await postgres.schema(), EVENTSTORE_URL: store.url };
};

const migrate = async (environment: Readonly<Record<string, string>>): Promise<void> => {
  const child = spawn(process.execPath, CLI, { cwd: ROOT, env: { ...process.env, ...environment } });
  let err = '';
  child.stderr.on('data', (bytes: Buffer) => void (err += bytes.toString()));
  child.stdout.resume();
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`migrate ended with ${code}: ${err}`);
};

test('random lives go on engines of their own as the rules have them, as they do embedded', async () => {
  const world = await World.start(await engines());
  try {
    const living = await liveAll(world, livesFrom(SEED, LIVES, livesAtDesks));
    expect(living.flatMap(({ found, story }) => (found.length > 0 ? [{ found, story }] : []))).toEqual([]);
    expect(undescribed(await world.events())).toEqual([]);
    expect(await world.audit()).toEqual([]);
  } finally {
    await world.stop();
  }
}, 600_000);

test('random lives that began embedded are read and told the same after they were moved', async () => {
  const world = await World.start();
  closing.push(() => world.stop());
  const living = await liveAll(world, livesFrom(SEED, LIVES, livesAtDesks));
  expect(await failuresOf(SEED, living, livesAtDesks)).toEqual([]);
  await world.stop();
  const targets = await engines();
  await migrate({ ...world.environment, ...targets });
  const moved = await World.start({ ...targets, DATA_DIR: world.dataDir }, world);
  try {
    for (const one of living) await one.checkReads(moved);
    const told = await moved.events();
    for (const one of living) await one.checkEvents(moved, told);
    expect(living.flatMap(({ found }) => found)).toEqual([]);
    expect(await moved.audit()).toEqual([]);
  } finally {
    await moved.stop();
  }
}, 600_000);
