import { HttpProblem } from '../errors/http-problem.ts';
import { multiplied, RATE_ROWS } from '../limits/rate-limiter.ts';
import type { RateLimiter, RateRow, RateState } from '../limits/rate-limiter.ts';
import type { Caller } from './authentication.ts';
import type { Exchange } from './request-state.ts';

/** Draws from the right bucket for a request. Each method notes the state for the headers; its `allowed` says whether a token was left. */
export class RateGate {
  readonly #limiter: RateLimiter;

  constructor(limiter: RateLimiter) {
    this.#limiter = limiter;
  }

  async forCaller(exchange: Exchange, caller: Caller, row: RateRow): Promise<RateState> {
    const limit = multiplied(RATE_ROWS[row], caller.multiplier);
    return (exchange.rate = await this.#limiter.take('application', `${caller.applicationId} ${row}`, limit));
  }

  async forAddress(exchange: Exchange, row: RateRow): Promise<RateState> {
    return (exchange.rate = await this.#limiter.take(
      'address',
      `${exchange.addressKey} ${row}`,
      RATE_ROWS[row],
    ));
  }

  /** Tokens issued to a client at one address. Only a right secret gets here, so no flood of made-up ids pushes these buckets out. */
  async forClient(exchange: Exchange, clientId: string): Promise<RateState> {
    const key = `token ${clientId} ${exchange.addressKey}`;
    return (exchange.rate = await this.#limiter.take('application', key, RATE_ROWS.token));
  }
}

export const tooManyRequests = (endpoint: string, state: RateState): HttpProblem => {
  const seconds = state.retryAfter;
  const message = `Too many requests to ${endpoint}; wait ${seconds} second${seconds === 1 ? '' : 's'}`;
  return new HttpProblem('rate_limited', message, [], ['Retry-After', String(seconds)]);
};
