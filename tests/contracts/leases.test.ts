import { describe, expect, test } from '@jest/globals';
import type { Leases } from '../../application/coordination/leases.ts';
import { SqlLeases } from '../../application/coordination/leases.ts';
import { openServiceDatabase } from '../support/sql/temporary-database.ts';
import * as memory from '../support/in-memory-leases.ts';
import { describeLeasesContract, leasesCases } from './leases-contract.ts';

describeLeasesContract('SqlLeases on SQLite', async () => {
  const { database, close } = await openServiceDatabase();
  return { leases: new SqlLeases(database), close };
});

describeLeasesContract('InMemoryLeases', () =>
  Promise.resolve({ leases: new memory.InMemoryLeases(), close: () => Promise.resolve() }),
);

const failuresOf = async (leases: Leases): Promise<readonly string[]> => {
  const outcomes = await Promise.all(
    leasesCases.map(({ name, check }) =>
      check(leases).then(
        () => undefined,
        () => name,
      ),
    ),
  );
  return outcomes.filter((name) => name !== undefined);
};

/** Each flaw with a part of the name of a promise that must find it out. */
const flaws: readonly (readonly [flaw: string, leases: new () => Leases, promise: string])[] = [
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
  test.concurrent.each(flaws)('one that %s', async (_flaw, Broken, promise) => {
    const failures = await failuresOf(new Broken());
    expect(failures.filter((name) => name.includes(promise))).not.toEqual([]);
  });
});
