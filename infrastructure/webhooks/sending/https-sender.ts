import type { Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import type { SecureContext } from 'node:tls';
import { LRUCache } from 'lru-cache';
import type { DnsAddressGuard } from '../addresses/address-guard.ts';
import type { Addresses } from '../addresses/name-resolver.ts';
import { parseWebhookUrl } from '../addresses/webhook-url.ts';
import type { WebhookTarget } from '../addresses/webhook-url.ts';
import type {
  AttemptOutcome,
  FailedAttempt,
  Located,
  Route,
  WebhookRequest,
  WebhookSender,
} from './webhook-sender.ts';
import type { ReceiverConnection } from './receiver-connections.ts';
import { ReceiverConnections } from './receiver-connections.ts';
import { DeliveryRequest } from './delivery-request.ts';
import type { DeliveryAnswer, Interruption } from './delivery-request.ts';
import { PinnedConnector } from './pinned-connector.ts';
import { signedHeaders } from './signatures.ts';
import { failureOf } from './transport-failures.ts';

interface Options {
  readonly guard: DnsAddressGuard;
  readonly trust: SecureContext;
  /** Longest attempt. */
  readonly timeoutMs: number;
  /** UNIX time in milliseconds. */
  readonly now: () => number;
}

interface Attempt {
  interrupted: Interruption | undefined;
  exchange: DeliveryRequest | undefined;
}

const CACHED_TARGETS = 5_000;

const interrupt = (attempt: Attempt, kind: Interruption): void => {
  attempt.interrupted = kind;
  attempt.exchange?.interrupt(kind);
};

/** What keeps an address from being sent to at all. */
const refusalOf = (error: unknown): FailedAttempt => {
  if (!(error instanceof RangeError)) return { kind: 'failed', status: null, ...failureOf(error) };
  return { kind: 'failed', status: null, reason: 'invalid_url', error: `invalid url: ${error.message}` };
};

const lateIn = (timeoutMs: number, phase: string): string =>
  `timeout: no complete answer within ${timeoutMs} ms (${phase})`;

const verdictOn = (status: number): AttemptOutcome => {
  if (status >= 200 && status < 300) return { kind: 'delivered', status };
  const redirect = status >= 300 && status < 400 ? ': redirects are not followed' : '';
  return { kind: 'failed', status, reason: 'http_status', error: `http status ${status}${redirect}` };
};

const outcomeOf = (result: DeliveryAnswer, timeoutMs: number): AttemptOutcome => {
  switch (result.kind) {
    case 'answered':
      return verdictOn(result.status);
    case 'broken':
      return { kind: 'failed', status: result.status, ...failureOf(result.error) };
    case 'late': {
      const error = lateIn(timeoutMs, result.phase);
      return { kind: 'failed', status: result.status, reason: 'timeout', error };
    }
    case 'cut_off':
      return { kind: 'abandoned' };
  }
};

/** Posts signed bodies over verified TLS, HTTP/1.1, one request a connection at a time. */
export class HttpsSender implements WebhookSender {
  readonly #guard: DnsAddressGuard;
  readonly #now: () => number;
  readonly #pool: ReceiverConnections;
  readonly #targets = new LRUCache<string, WebhookTarget>({ max: CACHED_TARGETS });
  readonly #underWay = new Set<Attempt>();
  readonly #closing = new AbortController();

  constructor({ guard, trust, timeoutMs, now }: Options) {
    this.#guard = guard;
    this.#now = now;
    const connector = new PinnedConnector({
      secureContext: trust,
      rejectUnauthorized: true,
      allowH2: false,
      timeout: timeoutMs,
    });
    this.#pool = new ReceiverConnections({
      connector,
      phaseTimeoutMs: timeoutMs,
      acceptsPeer: (socket: Socket) =>
        socket.remoteAddress !== undefined && guard.allows(socket.remoteAddress),
    });
  }

  locate(url: string, applicationId: string, timeoutMs: number): Located | Promise<Located> {
    try {
      const target = this.#targetOf(url);
      this.#guard.checkHost(target);
      if (target.isLiteral) return { kind: 'found', route: { target, addresses: undefined } };
      const addresses = this.#guard.addressesOf(target.hostname, applicationId);
      if (addresses instanceof Promise) return this.#waitFor(addresses, target, timeoutMs);
      return { kind: 'found', route: { target, addresses } };
    } catch (error) {
      return refusalOf(error);
    }
  }

  async #waitFor(addresses: Promise<Addresses>, target: WebhookTarget, timeoutMs: number): Promise<Located> {
    const { signal } = this.#closing;
    const over = new AbortController();
    const late = setTimeout(timeoutMs, undefined, { signal: AbortSignal.any([signal, over.signal]) });
    try {
      const found = await Promise.race([addresses, late]);
      if (found) return { kind: 'found', route: { target, addresses: found } };
      const error = lateIn(timeoutMs, 'resolving the name');
      return { kind: 'failed', status: null, reason: 'timeout', error };
    } catch (error) {
      return signal.aborted ? { kind: 'abandoned' } : refusalOf(error);
    } finally {
      over.abort();
      late.catch(() => undefined);
    }
  }

  #targetOf(url: string): WebhookTarget {
    const known = this.#targets.get(url);
    if (known) return known;
    const target = parseWebhookUrl(url);
    this.#targets.set(url, target);
    return target;
  }

  /** undici's own time-outs watch single phases and start late; this one watches the whole attempt. */
  async send(request: WebhookRequest, route: Route, timeoutMs: number): Promise<AttemptOutcome> {
    if (this.#closing.signal.aborted) return { kind: 'abandoned' };
    const attempt: Attempt = { interrupted: undefined, exchange: undefined };
    const timer = globalThis.setTimeout(interrupt, timeoutMs, attempt, 'late' satisfies Interruption);
    this.#underWay.add(attempt);
    try {
      const first = await this.#exchange(route, request, attempt, false);
      const { result } = first.stale ? await this.#exchange(route, request, attempt, true) : first;
      const outcome = outcomeOf(result, timeoutMs);
      const responseBody = attempt.exchange?.bodyStart;
      if (outcome.kind === 'abandoned' || responseBody === undefined) return outcome;
      return { ...outcome, responseBody };
    } finally {
      clearTimeout(timer);
      this.#underWay.delete(attempt);
    }
  }

  /** `stale`: a connection used before was closed without a byte, so most likely the receiver never saw this request. */
  async #exchange(
    route: Route,
    request: WebhookRequest,
    attempt: Attempt,
    fresh: boolean,
  ): Promise<{ result: DeliveryAnswer; stale: boolean }> {
    const connection = this.#pool.take(route, fresh);
    const connectsBefore = connection.connects;
    const exchange = new DeliveryRequest();
    attempt.exchange = exchange;
    if (attempt.interrupted) exchange.interrupt(attempt.interrupted);
    else this.#dispatch(connection, route.target.path, request, exchange);
    const result = await exchange.result;
    if (result.kind === 'answered' && result.whole) {
      this.#pool.giveBack(connection);
      return { result, stale: false };
    }
    exchange.cancel();
    this.#pool.destroy(connection);
    const reused = connectsBefore > 0 && connection.connects === connectsBefore;
    return { result, stale: !fresh && reused && result.kind === 'broken' && result.silent };
  }

  #dispatch(
    connection: ReceiverConnection,
    path: string,
    request: WebhookRequest,
    exchange: DeliveryRequest,
  ): void {
    const body = Buffer.from(request.body, 'utf8');
    const timestamp = String(Math.floor(this.#now() / 1000));
    const headers = signedHeaders({ ...request, body }, timestamp);
    connection.dispatch({ method: 'POST', path, headers, body }, exchange);
  }

  close(): void {
    this.#closing.abort();
    for (const attempt of this.#underWay) interrupt(attempt, 'cut_off');
    this.#pool.close();
  }
}
