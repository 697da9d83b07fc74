import { LRUCache } from 'lru-cache';
import { holdsToken, MS_PER_MINUTE, stateOf } from './bucket-state.ts';
import type { RateLimit, RateLimiter, RateScope, RateState } from './rate-limiter.ts';

interface Bucket {
  tokens: number;
  /** UNIX milliseconds of the last refill. */
  at: number;
}

/** About 100 bytes each: a flood of addresses costs some megabytes and forgets only the addresses idle for longest. */
const DEFAULT_CAPACITY = 50_000;

/** Token buckets of one process, in bounded memory. */
export class TokenBucketLimiter implements RateLimiter {
  readonly #buckets: Readonly<Record<RateScope, LRUCache<string, Bucket>>>;
  readonly #now: () => number;

  /** `now` answers UNIX milliseconds; `capacity` is the most buckets remembered in each scope. */
  constructor(now: () => number = Date.now, capacity: number = DEFAULT_CAPACITY) {
    this.#now = now;
    this.#buckets = {
      application: new LRUCache({ max: capacity }),
      address: new LRUCache({ max: capacity }),
    };
  }

  take(scope: RateScope, key: string, limit: RateLimit): RateState {
    const bucket = this.#refilled(scope, key, limit);
    const allowed = holdsToken(bucket);
    if (allowed) bucket.tokens = Math.max(0, bucket.tokens - 1);
    return stateOf(bucket, limit, allowed);
  }

  peek(scope: RateScope, key: string, limit: RateLimit): RateState {
    const bucket = this.#refilled(scope, key, limit);
    return stateOf(bucket, limit, holdsToken(bucket));
  }

  #refilled(scope: RateScope, key: string, limit: RateLimit): Bucket {
    const now = this.#now();
    const buckets = this.#buckets[scope];
    const known = buckets.get(key);
    if (known === undefined) {
      const full = { tokens: limit.burst, at: now };
      buckets.set(key, full);
      return full;
    }
    // A clock that was set back must not take tokens away.
    const elapsed = Math.max(0, now - known.at);
    known.tokens = Math.min(limit.burst, known.tokens + (elapsed * limit.perMinute) / MS_PER_MINUTE);
    known.at = now;
    return known;
  }
}
