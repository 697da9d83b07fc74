import { getHeapStatistics } from 'node:v8';
import { MIB } from '../../application/support/sized-cache.ts';
import type { PageCaches } from '../sqlite/connection.ts';

interface CacheMemory {
  readonly cacheMemory: number;
}

/** Where a cache is: in the thread that answers requests, in the one that follows the log, or in each. */
interface Share {
  /** Hundredths of CACHE_MEMORY. */
  readonly hundredths: number;
  readonly copies: number;
  /** Of what the engine keeps beside the objects of V8. */
  readonly outsideHeap?: true;
}

/** Everything that a process remembers in order to be faster, and that grows with its data. Together they are CACHE_MEMORY. */
export const CACHE_SHARES = {
  operations: { hundredths: 40, copies: 1 },
  followedOperations: { hundredths: 4, copies: 1 },
  deliveredEvents: { hundredths: 4, copies: 2 },
  funds: { hundredths: 2, copies: 2 },
  tokens: { hundredths: 2, copies: 1 },
  clients: { hundredths: 2, copies: 1 },
  operationKeys: { hundredths: 1, copies: 2 },
  ownWrites: { hundredths: 1, copies: 2 },
  rateBuckets: { hundredths: 1, copies: 2 },
  traces: { hundredths: 1, copies: 2 },
  pagesRead: { hundredths: 2, copies: 6, outsideHeap: true },
  pagesWritten: { hundredths: 4, copies: 5, outsideHeap: true },
} as const satisfies Record<string, Share>;

type CacheName = keyof typeof CACHE_SHARES;

/** What are objects of a thread is no larger share of its heap than of CACHE_MEMORY, however much that is. */
export const cacheBytes = ({ cacheMemory }: CacheMemory, name: CacheName): number => {
  const { hundredths, outsideHeap }: Share = CACHE_SHARES[name];
  const whole = outsideHeap ? cacheMemory : Math.min(cacheMemory, getHeapStatistics().heap_size_limit);
  return Math.floor((whole * hundredths) / 100);
};

/** What a process opens its stores for: one command, the service, or the thread beside the one that has opened them for it. */
export type Part = 'command' | 'service' | 'background';

/** A command has three connections at most, so each gets as much as four of a service. */
const COMMAND_FACTOR = 4;

export const pageCachesOf = (configuration: CacheMemory, part: Part): PageCaches => {
  const factor = part === 'command' ? COMMAND_FACTOR : 1;
  return {
    reader: factor * cacheBytes(configuration, 'pagesRead'),
    writer: factor * cacheBytes(configuration, 'pagesWritten'),
  };
};

export const CACHE_MEMORY = { least: 64 * MIB, byDefault: '192MiB' } as const;
