import type { RateLimit, RateState } from './rate-limiter.ts';

export interface BucketLevel {
  /** Fractions included. */
  readonly tokens: number;
  /** When it had them, UNIX milliseconds. */
  readonly at: number;
}

export const MS_PER_MINUTE = 60_000;
/** Sums of fractions of a token may fall short of a whole one by this much. */
export const ROUNDING = 1e-9;

export const holdsToken = ({ tokens }: BucketLevel): boolean => tokens >= 1 - ROUNDING;

export const stateOf = ({ tokens, at }: BucketLevel, limit: RateLimit, allowed: boolean): RateState => {
  const perMs = limit.perMinute / MS_PER_MINUTE;
  return {
    allowed,
    limit: limit.burst,
    remaining: Math.floor(tokens + ROUNDING),
    resetAt: Math.ceil((at + (limit.burst - tokens) / perMs) / 1000 - ROUNDING),
    retryAfter: allowed ? 0 : Math.max(1, Math.ceil((1 - tokens) / perMs / 1000 - ROUNDING)),
  };
};
