import { getHeapStatistics } from 'node:v8';
import { describe, expect, test } from '@jest/globals';
import { CACHE_SHARES, cacheBytes, pageCachesOf } from '../../../infrastructure/composition/cache-shares.ts';
import { readConfiguration } from '../../../infrastructure/composition/configuration.ts';
import { MIB, sizedCache } from '../../../application/support/sized-cache.ts';

const MEMORY = { cacheMemory: 200 * MIB };

describe('CACHE_MEMORY', () => {
  test('is what all caches of a process may hold together', () => {
    const shares = Object.values(CACHE_SHARES);
    const together = shares.reduce((sum, { hundredths, copies }) => sum + hundredths * copies, 0);
    expect(together).toBeLessThanOrEqual(100);
    expect(together).toBeGreaterThan(90);
  });

  test('each has its share of it, and a command has as many pages in fewer connections', () => {
    expect(cacheBytes(MEMORY, 'operations')).toBe(80 * MIB);
    expect(pageCachesOf(MEMORY, 'service')).toEqual({ reader: 4 * MIB, writer: 8 * MIB });
    expect(pageCachesOf(MEMORY, 'command')).toEqual({ reader: 16 * MIB, writer: 32 * MIB });
  });

  test('beyond the heap of a thread only pages grow with it', () => {
    const heap = getHeapStatistics().heap_size_limit;
    const large = { cacheMemory: 4 * heap };
    expect(cacheBytes(large, 'operations')).toBe(Math.floor(0.4 * heap));
    expect(pageCachesOf(large, 'service')).toEqual({
      reader: Math.floor(0.08 * heap),
      writer: Math.floor(0.16 * heap),
    });
  });

  test.each([
    ['64MiB', 64],
    ['512MiB', 512],
    ['2GiB', 2_048],
  ])('is written as a size: %s', (text, mebibytes) => {
    expect(readConfiguration({ CACHE_MEMORY: text }).cacheMemory).toBe(mebibytes * MIB);
  });

  test.each(['63MiB', '512', '512MB', '0GiB', '65GiB', '-1GiB', '1.5GiB'])(
    'refuses %s in one line',
    (text) => {
      expect(() => readConfiguration({ CACHE_MEMORY: text })).toThrow(
        `CACHE_MEMORY must be a size such as 512MiB or 2GiB, 64MiB to 65536MiB, not "${text}"`,
      );
    },
  );
});

test('a sized cache counts keys and values, and forgets what was not used for longest', () => {
  const cache = sizedCache<string>(10_000, (value) => value.length);
  for (let index = 0; index < 100; index++) {
    cache.set(`key-${index}`, 'v'.repeat(200));
    cache.get('key-0');
  }
  expect(cache.calculatedSize).toBeLessThanOrEqual(10_000);
  expect(cache.size).toBeGreaterThan(25);
  expect([cache.has('key-0'), cache.has('key-1'), cache.has('key-99')]).toEqual([true, false, true]);
});
