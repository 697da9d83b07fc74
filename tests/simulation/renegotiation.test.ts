import { describe, expect, test } from '@jest/globals';
import { simulate } from './support/renegotiation-run.ts';
import { VARIANTS } from './support/variants.ts';

const LONG = process.env['LONG'] === '1';
/** A seed that failed, to run it again alone: SEED=123 npm test -- tests/simulation */
const SEED = process.env['SEED'];
const RUNS = LONG ? 20_000 : 120;
const MOST_SHOWN = 5;
/** What a fund would suffer from, not only what an auditor would see in a coordinator's stream. */
const HARM = /renegotiated \d+ times|not received exactly once|after the commit|two committed/;

const failuresOf = async (seeds: readonly number[], variant: (typeof VARIANTS)[number]) => {
  const failures: { readonly seed: number; readonly violations: readonly string[] }[] = [];
  for (const seed of seeds) {
    const violations = await simulate(seed, variant);
    if (violations.length > 0) failures.push({ seed, violations });
  }
  return failures;
};

describe('renegotiations, payments, recoveries and deaths in random order', () => {
  test(
    `leave no half in ${RUNS} runs`,
    async () => {
      const first = Number(process.env['FIRST_SEED'] ?? (LONG ? 1_000_001 : 1));
      const seeds = SEED ? [Number(SEED)] : Array.from({ length: RUNS }, (_, i) => first + i);
      const failures = await failuresOf(seeds, 'real');
      expect(failures.slice(0, MOST_SHOWN)).toEqual([]);
    },
    LONG ? 1_800_000 : 60_000,
  );

  test.each(VARIANTS.filter((variant) => variant !== 'real'))(
    'would show what is wrong with: %s',
    async (variant) => {
      for (let seed = 1; seed <= 2_000; seed++) {
        if ((await simulate(seed, variant)).some((violation) => HARM.test(violation))) return;
      }
      throw new Error(`the simulation does not notice: ${variant}`);
    },
    120_000,
  );
});
