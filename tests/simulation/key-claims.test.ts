import { describe, expect, test } from '@jest/globals';
import { CLAIM_VARIANTS, simulateClaims } from './support/key-claims-run.ts';

const LONG = process.env['LONG'] === '1';
/** A seed that failed, to run it again alone: SEED=123 npm test -- tests/simulation/key-claims */
const SEED = process.env['SEED'];
const RUNS = LONG ? 20_000 : 120;
const MOST_SHOWN = 5;

describe('commands with keys, deaths and requests that arrive late, in random order', () => {
  test(
    `use each key once, lose nothing and do nothing that was refused, in ${RUNS} runs`,
    async () => {
      const seeds = SEED ? [Number(SEED)] : Array.from({ length: RUNS }, (_, index) => index + 1);
      const failures: { readonly seed: number; readonly violations: readonly string[] }[] = [];
      for (const seed of seeds) {
        const violations = await simulateClaims(seed, 'real');
        if (violations.length > 0) failures.push({ seed, violations });
      }
      expect(failures.slice(0, MOST_SHOWN)).toEqual([]);
    },
    LONG ? 1_800_000 : 60_000,
  );

  test.each(CLAIM_VARIANTS.filter((variant) => variant !== 'real'))(
    'would show a protocol that %s',
    async (variant) => {
      for (let seed = 1; seed <= 2_000; seed++) if ((await simulateClaims(seed, variant)).length > 0) return;
      throw new Error(`the simulation does not notice a protocol that ${variant}`);
    },
    120_000,
  );
});
