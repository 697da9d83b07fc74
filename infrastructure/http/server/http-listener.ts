import type { Logger } from '../../../application/ports/logger.ts';
import { unavailable } from '../errors/http-problem.ts';
import type { HttpProblem } from '../errors/http-problem.ts';
import { TokenBucketLimiter } from '../limits/rate-limiter.ts';
import type { RateLimiter } from '../limits/rate-limiter.ts';
import { healthApp } from './health-app.ts';
import type { RequestListener } from './health-app.ts';
import { DEFAULT_LIMITS, createHttpServer } from './http-server.ts';
import type { HttpServer } from './http-server.ts';

const RETRY_AFTER_S = 2;

/**
 * The listening address of this process, open from the first moment: health checks see that the process lives and what it waits for,
 * so a start can wait for its engines instead of ending.
 */
export class HttpListener {
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
    };
    const report = (error: Error): void =>
      logger.error({ err: error }, 'the listening address is in trouble');
    this.#server = createHttpServer((req, res) => this.#app(req, res), limiter, DEFAULT_LIMITS, report);
  }

  /** @throws Error when the address cannot be used */
  static async open(
    { port, host }: { readonly port: number; readonly host: string },
    logger: Logger,
  ): Promise<HttpListener> {
    const listener = new HttpListener(logger);
    await listener.#server.listen(port, host);
    return listener;
  }

  /** An engine that the start waits for; undefined when it is there. */
  waitFor(what: string | undefined): void {
    this.#waitingFor = what;
  }

  /** Ends the start: from now on this application answers. */
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
