import { randomUUID } from 'node:crypto';
import { setTimeout as waitInFact } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Lease, Leases } from '../../application/coordination/leases.ts';

/** By the clock of the leases. */
type Wait = (ms: number) => Promise<unknown>;

/** A promise of the port. It holds beside other tests' leases: it uses names of its own only. */
interface LeasesCase {
  readonly name: string;
  readonly check: (leases: Leases, wait: Wait) => Promise<void>;
}

const LONG_MS = 60_000;
const SHORT_MS = 40;
const PATIENCE_MS = 2_000;

const taken = async (leases: Leases, name: string, holder: string, ttlMs = LONG_MS): Promise<Lease> => {
  const lease = await leases.acquire(name, holder, ttlMs);
  if (!lease) throw new Error(`${holder} did not get ${name}`);
  return lease;
};

/** Asks again and again, as a process does that waits for its turn. */
const takenInTime = async (leases: Leases, wait: Wait, name: string, holder: string): Promise<Lease> => {
  for (let waited = 0; ; waited += 10) {
    const lease = await leases.acquire(name, holder, LONG_MS);
    if (lease) return lease;
    if (waited > PATIENCE_MS) throw new Error(`${name} never ended`);
    await wait(10);
  }
};

export const leasesCases: readonly LeasesCase[] = [
  {
    name: 'one holder at a time',
    check: async (leases) => {
      const name = randomUUID();
      expect(await taken(leases, name, 'a')).toMatchObject({ name, holder: 'a' });
      expect(await leases.acquire(name, 'b', LONG_MS)).toBeUndefined();
    },
  },
  {
    name: 'of many that ask at once exactly one gets it',
    check: async (leases) => {
      const name = randomUUID();
      const asked = Array.from({ length: 20 }, (_, i) => leases.acquire(name, `holder-${i}`, LONG_MS));
      expect((await Promise.all(asked)).filter((lease) => lease !== undefined)).toHaveLength(1);
    },
  },
  {
    name: 'one that was to last longer than it is asked for, because the clock was set back, ends in that time',
    check: async (leases, wait) => {
      const name = randomUUID();
      const stuck = await taken(leases, name, 'a', 60 * LONG_MS);
      expect(await leases.acquire(name, 'b', SHORT_MS)).toBeUndefined();
      const { token } = await takenInTime(leases, wait, name, 'b');
      expect(token).toBeGreaterThan(stuck.token);
      expect(await leases.renew(stuck, LONG_MS)).toBe(false);
    },
  },
  {
    name: 'names have nothing to do with each other',
    check: async (leases) => {
      await taken(leases, randomUUID(), 'a');
      await taken(leases, randomUUID(), 'b');
    },
  },
  {
    name: 'a lease that ended goes to another, under a higher token',
    check: async (leases, wait) => {
      const name = randomUUID();
      const first = await taken(leases, name, 'a', SHORT_MS);
      const second = await takenInTime(leases, wait, name, 'b');
      expect(second.token).toBeGreaterThan(first.token);
    },
  },
  {
    name: 'what was given back can be had at once, under a higher token',
    check: async (leases) => {
      const name = randomUUID();
      const first = await taken(leases, name, 'a');
      await leases.release(first);
      const second = await taken(leases, name, 'b');
      expect(second.token).toBeGreaterThan(first.token);
      await leases.release(second);
      expect((await taken(leases, name, 'a')).token).toBeGreaterThan(second.token);
    },
  },
  {
    name: 'a renewed lease lasts beyond its first end',
    check: async (leases, wait) => {
      const name = randomUUID();
      const lease = await taken(leases, name, 'a', 1_000);
      expect(await leases.renew(lease, LONG_MS)).toBe(true);
      await wait(1_100);
      expect(await leases.acquire(name, 'b', LONG_MS)).toBeUndefined();
    },
  },
  {
    name: 'a lease that ended cannot be renewed, even if nobody else has it',
    check: async (leases, wait) => {
      const lease = await taken(leases, randomUUID(), 'a', 1);
      await wait(20);
      expect(await leases.renew(lease, LONG_MS)).toBe(false);
    },
  },
  {
    name: 'a lease that passed on can be neither renewed nor given back by its earlier holder',
    check: async (leases, wait) => {
      const name = randomUUID();
      const first = await taken(leases, name, 'a', SHORT_MS);
      const second = await takenInTime(leases, wait, name, 'b');
      expect(await leases.renew(first, LONG_MS)).toBe(false);
      await leases.release(first);
      expect(await leases.acquire(name, 'c', LONG_MS)).toBeUndefined();
      expect(await leases.renew(second, LONG_MS)).toBe(true);
    },
  },
  {
    name: 'a holder that lost the answer gets its lease again; the one under the lower token is over',
    check: async (leases) => {
      const name = randomUUID();
      const first = await taken(leases, name, 'a');
      const again = await taken(leases, name, 'a');
      expect(again.token).toBeGreaterThan(first.token);
      expect(await leases.renew(first, LONG_MS)).toBe(false);
      expect(await leases.renew(again, LONG_MS)).toBe(true);
    },
  },
];

export const describeLeasesContract = (
  adapter: string,
  open: () => Promise<{ readonly leases: Leases; close(): Promise<void> }>,
): void => {
  describe(`${adapter} keeps the promises of leases`, () => {
    let fixture: Awaited<ReturnType<typeof open>>;
    beforeAll(async () => {
      fixture = await open();
    });
    afterAll(() => fixture.close());
    test.concurrent.each(leasesCases)('$name', ({ check }) => check(fixture.leases, waitInFact));
  });
};
