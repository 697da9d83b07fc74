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

/** Applications are known and few; addresses are anybody's choice. They never push each other out of memory. */
export type RateScope = 'application' | 'address';

export interface RateState {
  readonly allowed: boolean;
  /** Capacity of the bucket. */
  readonly limit: number;
  /** Whole tokens left. */
  readonly remaining: number;
  /** UNIX seconds at which the bucket is full again, rounded up. */
  readonly resetAt: number;
  /** Whole seconds until the next token, at least 1; 0 when allowed. */
  readonly retryAfter: number;
}

/** Token buckets. A refused call takes nothing. An implementation may share its buckets between processes. */
export interface RateLimiter {
  take(scope: RateScope, key: string, limit: RateLimit): RateState | Promise<RateState>;
  /** The state without taking a token. */
  peek(scope: RateScope, key: string, limit: RateLimit): RateState | Promise<RateState>;
}

/** The row's limit under a contract's factor. */
export const multiplied = (limit: RateLimit, factor: number): RateLimit =>
  factor === 1
    ? limit
    : { perMinute: limit.perMinute * factor, burst: Math.max(1, Math.floor(limit.burst * factor)) };
