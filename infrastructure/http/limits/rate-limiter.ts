import type { LRUCache } from 'lru-cache';
import { MIB, sizedCache } from '../../../application/support/sized-cache.ts';

/** Refill in tokens a minute, capacity in tokens. */
export interface RateLimit {
  readonly perMinute: number;
  readonly burst: number;
}

/** One row of the published table each; every bucket belongs to a row. */
export const RATE_ROWS = {
  token: { perMinute: 10, burst: 20 },
  loan: { perMinute: 120, burst: 240 },
  loan_files: { perMinute: 120, burst: 240 },
  settle: { perMinute: 300, burst: 600 },
  prepayment: { perMinute: 120, burst: 240 },
  repurchase: { perMinute: 60, burst: 120 },
  renegotiate: { perMinute: 60, burst: 120 },
  read: { perMinute: 600, burst: 1200 },
  webhook: { perMinute: 30, burst: 60 },
} as const satisfies Record<string, RateLimit>;

export type RateRow = keyof typeof RATE_ROWS;

/** Applications are known and few, addresses are not. Each scope has its own memory, so addresses never push applications out. */
export type RateScope = 'application' | 'address';

export interface RateState {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** UNIX seconds at which the bucket is full again, rounded up. */
  readonly resetAt: number;
  /** Whole seconds until the tokens that were wanted are there, at least 1; 0 when allowed. */
  readonly retryAfter: number;
}

/** Token buckets. An implementation may share its buckets between processes. */
export interface RateLimiter {
  /** Takes all of the tokens or none. @param tokens default 1; below 0 they are given back */
  take(scope: RateScope, key: string, limit: RateLimit, tokens?: number): RateState | Promise<RateState>;
}

export const multiplied = (limit: RateLimit, factor: number): RateLimit =>
  factor === 1
    ? limit
    : { perMinute: limit.perMinute * factor, burst: Math.max(1, Math.floor(limit.burst * factor)) };

interface Bucket {
  /** Fractions included. */
  tokens: number;
  /** When it had them, UNIX milliseconds. */
  at: number;
}

const MS_PER_MINUTE = 60_000;
/** Sums of fractions of a token may fall short of a whole one by this much. */
const ROUNDING = 1e-9;

/** @param missing tokens that the bucket lacked; undefined where it had what was wanted */
export const stateOf = ({ tokens, at }: Readonly<Bucket>, limit: RateLimit, missing?: number): RateState => {
  const allowed = missing === undefined;
  const perMs = limit.perMinute / MS_PER_MINUTE;
  return {
    allowed,
    limit: limit.burst,
    remaining: Math.floor(tokens + ROUNDING),
    resetAt: Math.ceil((at + (limit.burst - tokens) / perMs) / 1000 - ROUNDING),
    retryAfter: allowed ? 0 : Math.max(1, Math.ceil(missing / perMs / 1000 - ROUNDING)),
  };
};

/** A bucket takes so much beside its key, two numbers that are objects of their own included. */
const BUCKET_BYTES = 60;

export class TokenBucketLimiter implements RateLimiter {
  readonly #buckets: Readonly<Record<RateScope, LRUCache<string, Bucket>>>;
  readonly #now: () => number;

  /** `now` answers UNIX milliseconds; a flood of addresses forgets only those idle for longest. @param cacheBytes of each scope */
  constructor(now: () => number = Date.now, cacheBytes: number = 2 * MIB) {
    this.#now = now;
    this.#buckets = {
      application: sizedCache<Bucket>(cacheBytes, () => BUCKET_BYTES),
      address: sizedCache<Bucket>(cacheBytes, () => BUCKET_BYTES),
    };
  }

  take(scope: RateScope, key: string, limit: RateLimit, tokens = 1): RateState {
    const bucket = this.#refilled(scope, key, limit);
    const missing = tokens - bucket.tokens;
    if (missing > ROUNDING) return stateOf(bucket, limit, missing);
    bucket.tokens = Math.min(limit.burst, Math.max(0, -missing));
    return stateOf(bucket, limit);
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
