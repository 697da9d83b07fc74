import type { Logger } from '../../application/ports/logger.ts';
import type { HttpProblem } from '../http/errors/http-problem.ts';
import { unavailable } from '../http/errors/http-problem.ts';
import { healthApp } from '../http/server/health-app.ts';
import type { RequestListener } from '../http/server/health-app.ts';
import type { RateLimiter } from '../http/limits/rate-limiter.ts';
import { TokenBucketLimiter } from '../http/limits/rate-limiter.ts';
import { createHttpServer, DEFAULT_LIMITS } from '../http/server/http-server.ts';
import type { HttpServer } from '../http/server/http-server.ts';
import type { Configuration } from './configuration.ts';

const RETRY_AFTER_S = 2;

/**
 * The listening address of this process, open from the first moment: whoever watches it sees that it lives and what it waits for,
 * and a start waits for its engines instead of ending.
 */
export class FrontDoor {
  readonly #server: HttpServer;
  #app: RequestListener;
  #limiter: RateLimiter = new TokenBucketLimiter();
  #waitingFor: string | undefined;

  private constructor(logger: Logger) {
    this.#app = healthApp({
      readiness: () =>
        Promise.resolve({ ready: false, checks: { [this.#waitingFor ?? 'start']: 'failing' } }),
      otherwise: (): HttpProblem => unavailable(`The service starts: ${this.#state()}.`, RETRY_AFTER_S),
    });
    const limiter: RateLimiter = {
      take: (scope, key, limit) => this.#limiter.take(scope, key, limit),
      peek: (scope, key, limit) => this.#limiter.peek(scope, key, limit),
    };
    const report = (error: Error): void =>
      logger.error({ err: error }, 'the listening address is in trouble');
    this.#server = createHttpServer((req, res) => this.#app(req, res), limiter, DEFAULT_LIMITS, report);
  }

  /** @throws Error when the address cannot be used */
  static async open(
    { port, host }: Pick<Configuration, 'port' | 'host'>,
    logger: Logger,
  ): Promise<FrontDoor> {
    const door = new FrontDoor(logger);
    await door.#server.listen(port, host);
    return door;
  }

  /** An engine that the start waits for; undefined when it is there. */
  waitFor(what: string | undefined): void {
    this.#waitingFor = what;
  }

  /** The start is over: from now on this answers, behind the same limits. */
  serve(app: RequestListener, limiter: RateLimiter): void {
    this.#app = app;
    this.#limiter = limiter;
  }

  close(graceMs: number): Promise<void> {
    return this.#server.close(graceMs);
  }

  #state(): string {
    return this.#waitingFor === undefined ? 'not there yet' : `waiting for ${this.#waitingFor}`;
  }
}
