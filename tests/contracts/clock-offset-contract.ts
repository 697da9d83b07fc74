import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { SqlClockOffset } from '../../application/maintenance/sandbox/sandbox-clock.ts';

/** @param open two processes' views of one empty store */
export const describeClockOffsetContract = (
  name: string,
  open: () => Promise<{ readonly views: readonly [SqlClockOffset, SqlClockOffset]; close(): Promise<void> }>,
): void =>
  describe(`clock offset: ${name}`, () => {
    let opened: Awaited<ReturnType<typeof open>>;
    beforeAll(async () => (opened = await open()));
    afterAll(() => opened.close());

    test('is 0 until it is replaced, changes for all at once, and by who knows it alone', async () => {
      const [one, other] = opened.views;
      expect(await one.read()).toBe(0);
      expect(await one.replace(5, 10)).toBe(false);
      expect(await one.replace(0, 1_000)).toBe(true);
      expect(await other.read()).toBe(1_000);
      expect(await other.replace(0, 2_000)).toBe(false);
      const tenYears = 315_569_520_000;
      expect(await other.replace(1_000, tenYears)).toBe(true);
      expect(await one.read()).toBe(tenYears);
    });

    test('of many that replace the same offset at once exactly one does', async () => {
      const from = await opened.views[0].read();
      const tries = Array.from({ length: 20 }, (_, i) => opened.views[i % 2]!.replace(from, from + 1 + i));
      const replaced = await Promise.all(tries);
      expect(replaced.filter(Boolean)).toHaveLength(1);
      expect(await opened.views[0].read()).toBe(from + 1 + replaced.indexOf(true));
    });
  });
