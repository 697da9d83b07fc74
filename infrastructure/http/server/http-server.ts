import { createServer } from 'node:http';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Logger } from '../../../application/ports/logger.ts';
import { awaitingContinue, declaredLength, gatherPieces } from '../bodies/read-body.ts';
import { LineAMinute } from '../../support/line-a-minute.ts';
import { unavailable } from '../errors/http-problem.ts';
import type { HttpProblem } from '../errors/http-problem.ts';
import { TokenBucketLimiter } from '../limits/rate-limiter.ts';
import type { RateLimiter } from '../limits/rate-limiter.ts';
import { answerClientError } from './client-error.ts';
import type { ClientError } from './client-error.ts';
import { healthApp } from './health-app.ts';

export const DEFAULT_LIMITS = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 120_000,
  /** How long an idle connection is kept: longer than a load balancer keeps its side. */
  keepAliveTimeoutMs: 65_000,
  /** How long a client may leave an answer without reading any of it. */
  unreadTimeoutMs: 30_000,
  /** Time between looks for connections that are too slow. */
  checkIntervalMs: 2_000,
  maxHeaderBytes: 16_384,
};

/**
 * An application behind time-outs, with JSON answers even where Node refuses a request before the application sees it.
 * @param report is called with errors of the listening address, such as no descriptor left for another connection; it goes on listening
 */
export const createHttpServer = (
  app: RequestListener,
  limiter: RateLimiter,
  limits = DEFAULT_LIMITS,
  report: (error: Error) => void = () => undefined,
) => {
  const server = createServer({
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: limits.checkIntervalMs,
    maxHeaderSize: limits.maxHeaderBytes,
    // The application refuses a missing Host itself, with a body.
    requireHostHeader: false,
    noDelay: true,
    highWaterMark: UNREAD_BYTES,
  });
  const traffic = new Traffic(server);
  const pipelines = new Pipelines();
  const handle = (req: IncomingMessage, res: ServerResponse): void => {
    if ((declaredLength(req) ?? Infinity) > UNREAD_BYTES) gatherPieces(req);
    pipelines.run(req, res, () => {
      traffic.note(req, res);
      app(req, res);
    });
  };
  // Nothing moves on the connection: its answer is not read, or nothing is asked for. One whose answer is being made may be still.
  server.setTimeout(limits.unreadTimeoutMs, (socket) => {
    if (socket.writableLength > 0 || !pipelines.isBusy(socket)) socket.destroy();
  });
  server.on('request', handle);
  server.on('checkExpectation', handle);
  server.on('checkContinue', (req: IncomingMessage, res: ServerResponse) => {
    awaitingContinue.add(res);
    handle(req, res);
  });
  const refuse = (error: ClientError, socket: Duplex): Promise<void> =>
    answerClientError(error, socket as Socket, limiter, limits.maxHeaderBytes);
  const unreadable = new WeakSet<Duplex>();
  server.on('clientError', (error: ClientError, socket: Duplex) => {
    // Whatever follows cannot be read either. It is dropped, so that the answer is not lost to a client that is still sending.
    if (unreadable.has(socket)) return;
    unreadable.add(socket);
    void pipelines.end(socket as Socket).then(() => refuse(error, socket));
  });
  // Without a listener such a connection would be closed without a word.
  server.on('connect', (_req: IncomingMessage, socket: Duplex) => {
    void refuse({ reason: 'CONNECT is for proxies' }, socket);
  });
  return {
    server,
    /** @throws Error when the address cannot be used */
    listen: async (port: number, host: string): Promise<AddressInfo> => {
      const address = await listening(server, port, host);
      // Without a listener, a connection that cannot be accepted would end the process.
      server.on('error', report);
      return address;
    },
    /** Accepts nothing new, lets requests in flight finish for `graceMs`, then cuts what is left. Idempotent. */
    close: (graceMs: number): Promise<void> => traffic.close(graceMs),
  };
};

const listening = (server: Server, port: number, host: string): Promise<AddressInfo> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve(server.address() as AddressInfo);
    });
  });

/** Of a body that nobody reads yet. */
const UNREAD_BYTES = 16_384;

/** Requests that a connection may have sent ahead, beyond what came with one read. */
const MOST_AHEAD = 16;

interface Piped {
  readonly begin: () => void;
  readonly res: ServerResponse;
}

/**
 * The requests of one connection are carried out one after the other, in which order they are answered anyway: a thousand that a
 * client sends ahead take no more of the process at once than one.
 */
class Pipelines {
  /** The first one is under way. */
  readonly #requests = new WeakMap<Socket, Piped[]>();

  run({ socket }: IncomingMessage, res: ServerResponse, begin: () => void): void {
    const requests = this.#requests.get(socket) ?? [];
    requests.push({ begin, res });
    this.#requests.set(socket, requests);
    if (requests.length === 1) this.#begin(socket, requests);
    else if (requests.length > MOST_AHEAD) socket.pause();
  }

  /** Whether a request is under way. */
  isBusy(socket: Socket): boolean {
    return this.#requests.has(socket);
  }

  /** Resolves when those that came whole are answered; of one that did not, nothing is begun any more. */
  async end(socket: Socket): Promise<void> {
    const requests = this.#requests.get(socket) ?? [];
    const isWhole = ({ res }: Piped): boolean => res.req.complete;
    if (requests.length > 1 && !requests.every(isWhole)) requests.pop();
    const last = requests.findLast(isWhole);
    if (last) await new Promise((resolve) => last.res.once('close', resolve));
  }

  #begin(socket: Socket, requests: Piped[]): void {
    const { res, begin } = requests[0]!;
    res.once('close', () => this.#next(socket, requests));
    begin();
  }

  #next(socket: Socket, requests: Piped[]): void {
    requests.shift();
    if (requests.length > 0 && socket.writable) this.#begin(socket, requests);
    else this.#requests.delete(socket);
    if (requests.length <= 1 && socket.isPaused()) socket.resume();
  }
}

/** How long closing waits for the first bytes on connections that have sent nothing yet. */
const SILENCE_MS = 200;

/** Tracks connections without a request yet and responses under way, so that closing interrupts neither too early. */
class Traffic {
  readonly #server: Server;
  /** Connections without a request. Node counts them as busy, and no longer times them out while it closes. */
  readonly #silent = new Set<Socket>();
  readonly #responses = new Set<ServerResponse>();
  #closing: Promise<void> | undefined;

  constructor(server: Server) {
    this.#server = server;
    server.on('connection', (socket) => {
      this.#silent.add(socket);
      socket.once('close', () => this.#silent.delete(socket));
    });
  }

  /** To be called with every request before it is handled. */
  note(req: IncomingMessage, res: ServerResponse): void {
    this.#silent.delete(req.socket);
    if (this.#closing) res.shouldKeepAlive = false;
    this.#responses.add(res);
    res.once('close', () => {
      this.#responses.delete(res);
      if (this.#closing) req.socket.destroySoon();
    });
  }

  close(graceMs: number): Promise<void> {
    this.#closing ??= this.#close(graceMs);
    return this.#closing;
  }

  #close(graceMs: number): Promise<void> {
    for (const res of this.#responses) res.shouldKeepAlive = false;
    return new Promise((resolve) => {
      // A busy process may have no time for what has come: its turn to read is given first.
      const hush = setTimeout(() => setImmediate(() => this.#destroySilent()), Math.min(SILENCE_MS, graceMs));
      const cut = setTimeout(() => this.#server.closeAllConnections(), graceMs);
      this.#server.close(() => {
        clearTimeout(hush);
        clearTimeout(cut);
        resolve();
      });
    });
  }

  #destroySilent(): void {
    for (const socket of this.#silent) socket.destroy();
  }
}

const RETRY_AFTER_S = 2;

/**
 * The listening address of this process, open from the first moment: health checks see that the process lives and what it waits for,
 * so a start can wait for its engines instead of ending.
 */
export class HttpListener {
  readonly #server: ReturnType<typeof createHttpServer>;
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
      take: (...asked) => this.#limiter.take(...asked),
    };
    const trouble = new LineAMinute((fields) => logger.error(fields, 'the listening address is in trouble'));
    const report = (error: Error): void => trouble.note(error.message, { err: error });
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
