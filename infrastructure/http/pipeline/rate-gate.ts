import { HttpProblem } from '../errors/http-problem.ts';
import { multiplied, RATE_ROWS } from '../limits/rate-limiter.ts';
import type { RateLimit, RateLimiter, RateRow, RateState } from '../limits/rate-limiter.ts';
import type { Caller } from './authentication.ts';
import type { Exchange } from './exchange.ts';

/** Failed attempts that one address has for all client ids together: whoever tries many ids meets this limit. */
const FAILED_ATTEMPTS: RateLimit = multiplied(RATE_ROWS.token, 10);

/** Draws from the right bucket for a request. Each method notes the state for the headers and answers whether a token was left. */
export class RateGate {
  readonly #limiter: RateLimiter;

  constructor(limiter: RateLimiter) {
    this.#limiter = limiter;
  }

  async forCaller(exchange: Exchange, caller: Caller, row: RateRow): Promise<boolean> {
    const limit = multiplied(RATE_ROWS[row], caller.multiplier);
    exchange.rate = await this.#limiter.take('application', `${caller.applicationId} ${row}`, limit);
    return exchange.rate.allowed;
  }

  async forAddress(exchange: Exchange, row: RateRow): Promise<boolean> {
    exchange.rate = await this.#limiter.take('address', `${exchange.addressKey} ${row}`, RATE_ROWS[row]);
    return exchange.rate.allowed;
  }

  /** Per client id and address, as long as the address has not failed too often with whatever ids. */
  async forCredentials(exchange: Exchange, clientId: string): Promise<boolean> {
    const address = exchange.addressKey;
    const failures = await this.#limiter.peek('address', `${address} failed`, FAILED_ATTEMPTS);
    exchange.rate = failures.allowed
      ? await this.#limiter.take('address', `${address} token ${clientId}`, RATE_ROWS.token)
      : { ...failures, limit: RATE_ROWS.token.burst };
    return exchange.rate.allowed;
  }

  async countFailedCredentials(exchange: Exchange): Promise<void> {
    await this.#limiter.take('address', `${exchange.addressKey} failed`, FAILED_ATTEMPTS);
  }
}

export const tooManyRequests = (endpoint: string, state: RateState): HttpProblem => {
  const seconds = state.retryAfter;
  const message = `Too many requests to ${endpoint}; wait ${seconds} second${seconds === 1 ? '' : 's'}`;
  return new HttpProblem('rate_limited', message, [], ['Retry-After', String(seconds)]);
};
