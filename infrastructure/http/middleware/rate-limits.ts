import type { RequestHandler } from 'express';
import { HttpProblem } from '../errors/http-problem.ts';
import { multiplied, RATE_ROWS } from '../limits/rate-limiter.ts';
import type { RateLimiter, RateRow, RateState } from '../limits/rate-limiter.ts';
import type { Operation } from '../operation.ts';
import { callerOf, stateOf } from './request-state.ts';
import type { Caller, RequestState } from './request-state.ts';

/** The row for requests that match no operation. */
export const UNMATCHED = 'read';

/** Takes tokens from the bucket of a request. Each method keeps the state for the headers; its `allowed` says whether a token was left. */
export class RateLimits {
  readonly #limiter: RateLimiter;

  constructor(limiter: RateLimiter) {
    this.#limiter = limiter;
  }

  async forCaller(state: RequestState, caller: Caller, row: RateRow): Promise<RateState> {
    const limit = multiplied(RATE_ROWS[row], caller.multiplier);
    return (state.rate = await this.#limiter.take('application', `${caller.applicationId} ${row}`, limit));
  }

  async forAddress(state: RequestState, row: RateRow): Promise<RateState> {
    return (state.rate = await this.#limiter.take('address', `${state.addressKey} ${row}`, RATE_ROWS[row]));
  }

  /** The bucket of tokens issued to a client at one address. Only a right secret leads here, so invented ids cannot push buckets out of memory. */
  async forClient(state: RequestState, clientId: string): Promise<RateState> {
    const key = `token ${clientId} ${state.addressKey}`;
    return (state.rate = await this.#limiter.take('application', key, RATE_ROWS.token));
  }
}

/** @throws HttpProblem `rate_limited` */
export const requireToken = (rate: RateState, endpoint: string): void => {
  if (rate.allowed) return;
  const seconds = rate.retryAfter;
  const message = `Too many requests to ${endpoint}; wait ${seconds} second${seconds === 1 ? '' : 's'}`;
  throw new HttpProblem('rate_limited', message, [], ['Retry-After', String(seconds)]);
};

/** Takes a token from the application's bucket of this operation. @throws HttpProblem `rate_limited` */
export const limitApplication =
  ({ bucket, endpoint }: Operation, rates: RateLimits): RequestHandler =>
  async (_req, res, next) => {
    const state = stateOf(res);
    if (bucket !== null) requireToken(await rates.forCaller(state, callerOf(state), bucket), endpoint);
    next();
  };

/** Takes a token from the address's bucket; some operations, such as health checks, have none. @throws HttpProblem `rate_limited` */
export const limitAddress =
  ({ bucket, endpoint }: Operation, rates: RateLimits): RequestHandler =>
  async (_req, res, next) => {
    if (bucket !== null) requireToken(await rates.forAddress(stateOf(res), bucket), endpoint);
    next();
  };
