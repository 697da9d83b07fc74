import fc from 'fast-check';
import { liveAll } from './live.ts';
import type { Living } from './live.ts';
import { lives } from './steps.ts';
import type { Life } from './steps.ts';
import { World } from './world.ts';

const SHRINK_FOR_MS = 60_000;

/** The same seed is the same life, everywhere and always. */
const lifeOf = (seed: number, among = lives): Life => fc.sample(among, { seed, numRuns: 1 })[0]!;
export const livesFrom = (seed: number, count: number, among = lives): readonly Life[] =>
  Array.from({ length: count }, (_, i) => lifeOf(seed + i, among));

interface Failure {
  readonly seed: number;
  readonly found: readonly string[];
  readonly story: readonly string[];
  /** The smallest life that was found to fail like it, and what is wrong in that one. */
  readonly smallest?: { readonly life: Life; readonly found: readonly string[] };
}

/** Lives in which something differs; the first of them is made as small as it gets within a minute. */
export const failuresOf = async (
  seed: number,
  living: readonly Living[],
  among = lives,
): Promise<readonly Failure[]> => {
  const failures: Failure[] = living.flatMap(({ found, story }, i) =>
    found.length > 0 ? [{ seed: seed + i, found, story }] : [],
  );
  const [first, ...others] = failures;
  return first ? [{ ...first, ...(await smallestLike(first.seed, among)) }, ...others.slice(0, 2)] : [];
};

const smallestLike = async (seed: number, among: typeof lives): Promise<Pick<Failure, 'smallest'>> => {
  const world = await World.start();
  let smallest: Failure['smallest'];
  try {
    const holds = async (life: Life): Promise<boolean> => {
      const [living] = await liveAll(world, [life]);
      if (!living || living.found.length === 0) return true;
      smallest = { life, found: living.found };
      return false;
    };
    await fc.check(fc.asyncProperty(among, holds), {
      seed,
      numRuns: 1,
      interruptAfterTimeLimit: SHRINK_FOR_MS,
    });
  } finally {
    await world.stop();
  }
  return smallest ? { smallest } : {};
};
