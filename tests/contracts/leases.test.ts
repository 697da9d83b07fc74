import { describe, expect, test } from '@jest/globals';
import * as memory from '../support/in-memory-leases.ts';
import { leasesCases } from './leases-contract.ts';

/** Each promise is tried on leases of its own, whose clock moves where it would have to wait. */
const failuresOf = async (
  Kind: new (now: () => number) => memory.InMemoryLeases,
  promise = '',
): Promise<readonly string[]> => {
  const failures: string[] = [];
  for (const { name, check } of leasesCases.filter((one) => one.name.includes(promise))) {
    let now = 0;
    const wait = (ms: number) => Promise.resolve((now += ms));
    await check(new Kind(() => now), wait).catch(() => failures.push(name));
  }
  return failures;
};

/** Each flaw with a part of the name of a promise that must find it out. */
const flaws: readonly (readonly [flaw: string, leases: typeof memory.InMemoryLeases, promise: string])[] = [
  ['gives to everybody', memory.GivesToEverybody, 'one holder at a time'],
  ['looks, waits, then takes', memory.LooksBeforeItLeaps, 'exactly one'],
  ['never ends a lease', memory.NeverEnds, 'goes to another'],
  ['repeats tokens', memory.RepeatsTokens, 'higher token'],
  ['knows no tokens', memory.KnowsNoTokens, 'earlier holder'],
  ['renews what ended', memory.RenewsWhatEnded, 'cannot be renewed'],
  ['forgets renewals', memory.ForgetsRenewals, 'beyond its first end'],
  ['keeps what was given back', memory.KeepsWhatWasGivenBack, 'given back can be had'],
  ['has one lease for all names', memory.HasOneLease, 'nothing to do with each other'],
];

describe('the contract of leases finds broken ones out', () => {
  test('and finds nothing in whole ones', async () => {
    expect(await failuresOf(memory.InMemoryLeases)).toEqual([]);
  });

  test.each(flaws)('one that %s', async (_flaw, Broken, promise) => {
    expect(await failuresOf(Broken, promise)).not.toEqual([]);
  });
});
