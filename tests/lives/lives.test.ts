import { afterAll, expect, test } from '@jest/globals';
import { compareRebuiltRows } from './copies.ts';
import { liveAll } from './live.ts';
import { failuresOf, livesFrom } from './smallest.ts';
import { livesAtDesks } from './steps.ts';
import { checkSums } from './sums.ts';
import { World } from './world.ts';

const LIVES = 25;
/** A seed that failed, to begin with it: SEED=123 npm test -- tests/lives */
const SEED = Number(process.env['SEED'] ?? 1);

const world = await World.start();
afterAll(() => world?.stop());

test(`${LIVES} random lives are answered, read, listed and told as the rules have them`, async () => {
  const living = await liveAll(world, livesFrom(SEED, LIVES, livesAtDesks));
  expect(await failuresOf(SEED, living, livesAtDesks)).toEqual([]);
  const met = new Set(living.flatMap((one) => [...one.met]));
  expect([...met]).toEqual(
    expect.arrayContaining([
      ...['approve awaiting_confirmation', 'disburse awaiting_confirmation', 'rule awaiting_confirmation'],
      ...['confirm applied', 'confirm already_applied', 'confirm refused', 'withdraw applied'],
    ]),
  );
  for (const [n, life] of living.entries()) expect([SEED + n, await checkSums(life)]).toEqual([SEED + n, []]);
  expect(await world.audit()).toEqual([]);
  await world.stop();
  expect(await compareRebuiltRows(world)).toEqual([]);
}, 240_000);
