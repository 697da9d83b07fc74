import { LRUCache } from 'lru-cache';

export const MIB = 1_048_576;

/** What an entry takes beside its key and its value: the cache's own lists and the map that they belong to. */
const ENTRY_BYTES = 120;

type More<Value extends object | string> = Pick<
  LRUCache.Options<string, Value, unknown>,
  'ttl' | 'dispose' | 'perf'
>;

/** Forgets what was not used for longest so that it never holds more than so many bytes. */
export const sizedCache = <Value extends object | string>(
  bytes: number,
  sizeOf: (value: Value) => number,
  more: More<Value> = {},
): LRUCache<string, Value> =>
  new LRUCache<string, Value>({
    ...more,
    maxSize: Math.max(1, Math.floor(bytes)),
    sizeCalculation: (value, key) => ENTRY_BYTES + key.length + sizeOf(value),
  });
