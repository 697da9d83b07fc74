import { hash } from 'node:crypto';
import type { LRUCache } from 'lru-cache';
import type { SqlRateBuckets } from '../../../application/clients/rate-buckets.ts';
import type { Logger } from '../../../application/ports/logger.ts';
import { MIB, sizedCache } from '../../../application/support/sized-cache.ts';
import { within } from '../../support/time.ts';

/** Refill in tokens a minute, capacity in tokens. */
interface RateLimit {
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
type RateScope = 'application' | 'address';

export interface RateState {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** UNIX seconds at which the bucket is full again, rounded up. */
  readonly resetAt: number;
  /** Whole seconds until the tokens that were wanted are there, at least 1; 0 when allowed. */
  readonly retryAfter: number;
}

/** Names and values in turns. */
export const rateHeaders = ({ limit, remaining, resetAt }: RateState): readonly string[] => [
  ...['X-RateLimit-Limit', String(limit)],
  ...['X-RateLimit-Remaining', String(remaining)],
  ...['X-RateLimit-Reset', String(resetAt)],
];

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
const stateOf = ({ tokens, at }: Readonly<Bucket>, limit: RateLimit, missing?: number): RateState => {
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

interface Dependencies {
  readonly buckets: Pick<SqlRateBuckets, 'draw' | 'forgetFull'>;
  /** Decides while the shared buckets cannot be reached. */
  readonly local: RateLimiter;
  readonly logger: Logger;
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
  /** After this long without an answer the process limits by itself: requests must not wait longer for a shared limit. */
  readonly answerWithinMs?: number;
}

interface Call {
  readonly tokens: number;
  readonly answer: (state: RateState | Promise<RateState>) => void;
  readonly alone: () => RateState | Promise<RateState>;
}
interface Demand {
  readonly key: string;
  limit: RateLimit;
  readonly calls: Call[];
  /** Taken by an earlier draw for a call that needed more than there were. */
  unused: number;
}

const MOST_IN_A_DRAW = 500;
const ANSWER_WITHIN_MS = 500;
const TRY_AGAIN_AFTER_MS = 1_000;
const FORGET_EVERY_MS = 60_000;

/**
 * Token buckets that all processes share. Calls that come while a draw is under way go into the next draw together, so a process
 * has one statement in flight however many requests it serves. While the shared buckets cannot be reached each process limits by itself.
 */
export class SharedTokenBucketLimiter implements RateLimiter {
  readonly #deps: Dependencies;
  #demands = new Map<string, Demand>();
  #drawing = false;
  #aloneUntil: number | undefined;
  #forgotAt: number;

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
    this.#forgotAt = dependencies.now();
  }

  take(scope: RateScope, key: string, limit: RateLimit, tokens = 1): RateState | Promise<RateState> {
    const { local, now } = this.#deps;
    const alone = (): RateState | Promise<RateState> => local.take(scope, key, limit, tokens);
    if (this.#aloneUntil !== undefined && now() < this.#aloneUntil) return alone();
    return new Promise((answer) => {
      this.#demand(sharedKey(scope, key), limit).calls.push({ tokens, answer, alone });
      if (!this.#drawing) void this.#drawAll();
    });
  }

  #demand(key: string, limit: RateLimit): Demand {
    const known = this.#demands.get(key);
    if (known) {
      known.limit = limit;
      return known;
    }
    const demand = { key, limit, calls: [], unused: 0 };
    this.#demands.set(key, demand);
    return demand;
  }

  async #drawAll(): Promise<void> {
    this.#drawing = true;
    // Requests of one turn of the event loop share the first draw.
    await Promise.resolve();
    while (this.#demands.size > 0) {
      const batch = [...this.#demands.values()].slice(0, MOST_IN_A_DRAW);
      for (const { key } of batch) this.#demands.delete(key);
      await this.#draw(batch);
    }
    this.#drawing = false;
    this.#forgetNowAndThen();
  }

  async #draw(batch: readonly Demand[]): Promise<void> {
    try {
      const demands = batch.map(({ key, limit, calls, unused }) => {
        return { key, ...limit, asked: calls.reduce((sum, { tokens }) => sum + tokens, -unused) };
      });
      const { buckets, answerWithinMs = ANSWER_WITHIN_MS } = this.#deps;
      const supplies = await within(answerWithinMs, 'an answer', buckets.draw(demands));
      this.#isBack();
      const byKey = new Map(supplies.map((supply) => [supply.key, supply]));
      for (const demand of batch) {
        const unused = settle(demand, byKey.get(demand.key)!);
        if (unused > 0) this.#demand(demand.key, demand.limit).unused += unused;
      }
    } catch (error) {
      this.#isAway(error);
      for (const { calls } of batch) for (const { answer, alone } of calls) answer(alone());
    }
  }

  #isAway(error: unknown): void {
    const { logger, now } = this.#deps;
    if (this.#aloneUntil === undefined) {
      logger.warn(
        { err: error },
        'shared rate limits are away; each process limits by itself until they are back',
      );
    }
    this.#aloneUntil = now() + TRY_AGAIN_AFTER_MS;
  }

  #isBack(): void {
    if (this.#aloneUntil === undefined) return;
    this.#aloneUntil = undefined;
    this.#deps.logger.info({}, 'shared rate limits are back');
  }

  #forgetNowAndThen(): void {
    const { buckets, logger, now } = this.#deps;
    if (now() - this.#forgotAt < FORGET_EVERY_MS) return;
    this.#forgotAt = now();
    buckets.forgetFull().catch((error: unknown) => {
      logger.debug({ err: error }, 'full rate buckets could not be forgotten; the next time does it');
    });
  }
}

/** A digest keeps callers' addresses and ids out of the store, and every key short. */
const sharedKey = (scope: RateScope, key: string): string => hash('sha256', `${scope} ${key}`, 'base64url');

/**
 * Gives the tokens to the calls in the order in which they came; each gets the state after its own were taken. A call that needs more
 * than are left gets none of them. Answers how many nobody got.
 */
const settle = (
  { limit, calls, unused }: Demand,
  supply: { readonly granted: number; readonly tokens: number; readonly atMs: number },
): number => {
  let left = calls.reduce((sum, { tokens }) => sum - Math.min(0, tokens), supply.granted + unused);
  for (const { tokens, answer } of calls) {
    const isEnough = tokens <= left;
    if (isEnough) left -= Math.max(0, tokens);
    const level = { tokens: Math.min(limit.burst, supply.tokens + left), at: supply.atMs };
    answer(stateOf(level, limit, isEnough ? undefined : tokens - level.tokens));
  }
  return left;
};
