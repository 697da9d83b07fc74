import type { Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import { LRUCache } from 'lru-cache';
import { buildConnector } from 'undici';
import type { DnsAddressGuard } from '../addresses/address-guard.ts';
import { parseWebhookUrl } from '../addresses/webhook-url.ts';
import type { WebhookTarget } from '../addresses/webhook-url.ts';
import type { AttemptOutcome } from './attempt-outcome.ts';
import type { Connection } from './connection.ts';
import { ConnectionPool } from './connection-pool.ts';
import { Exchange } from './exchange.ts';
import type { ExchangeResult, Interruption } from './exchange.ts';
import { signatureOf, timedSignatureOf } from './signatures.ts';
import { failureOf } from './transport-failures.ts';
import type { WebhookRequest, WebhookSender } from './webhook-sender.ts';

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
  exchange: Exchange | undefined;
}

const CACHED_TARGETS = 5_000;

const interrupt = (attempt: Attempt, kind: Interruption): void => {
  attempt.interrupted = kind;
  attempt.exchange?.interrupt(kind);
};

const verdictOn = (status: number): AttemptOutcome => {
  if (status >= 200 && status < 300) return { kind: 'delivered', status };
  const redirect = status >= 300 && status < 400 ? ': redirects are not followed' : '';
  return { kind: 'failed', status, reason: 'http_status', error: `http status ${status}${redirect}` };
};

const outcomeOf = (result: ExchangeResult, timeoutMs: number): AttemptOutcome => {
  switch (result.kind) {
    case 'answered':
      return verdictOn(result.status);
    case 'too_large': {
      const error = 'the answer is larger than 64 KiB';
      return { kind: 'failed', status: result.status, reason: 'answer_too_large', error };
    }
    case 'broken':
      return { kind: 'failed', status: result.status, ...failureOf(result.error) };
    case 'late': {
      const error = `timeout: no complete answer within ${timeoutMs} ms (${result.phase})`;
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
  readonly #pool: ConnectionPool;
  readonly #targets = new LRUCache<string, WebhookTarget>({ max: CACHED_TARGETS });
  readonly #underWay = new Set<Attempt>();
  #closed = false;

  constructor({ guard, trust, timeoutMs, now }: Options) {
    this.#guard = guard;
    this.#now = now;
    const connector = buildConnector({
      lookup: guard.lookup,
      secureContext: trust,
      rejectUnauthorized: true,
      allowH2: false,
      timeout: timeoutMs,
    });
    this.#pool = new ConnectionPool({
      connector,
      phaseTimeoutMs: timeoutMs,
      acceptsPeer: (socket: Socket) =>
        socket.remoteAddress !== undefined && guard.allows(socket.remoteAddress),
    });
  }

  async send(request: WebhookRequest, timeoutMs: number): Promise<AttemptOutcome> {
    if (this.#closed) return { kind: 'abandoned' };
    let target: WebhookTarget;
    try {
      target = this.#targetOf(request.url);
      this.#guard.checkHost(target);
    } catch (error) {
      if (!(error instanceof RangeError)) return { kind: 'failed', status: null, ...failureOf(error) };
      return { kind: 'failed', status: null, reason: 'invalid_url', error: `invalid url: ${error.message}` };
    }
    return this.#withinTime(target, request, timeoutMs);
  }

  #targetOf(url: string): WebhookTarget {
    const known = this.#targets.get(url);
    if (known) return known;
    const target = parseWebhookUrl(url);
    this.#targets.set(url, target);
    return target;
  }

  /** undici's own time-outs watch single phases and start late; this one watches the whole attempt. */
  async #withinTime(
    target: WebhookTarget,
    request: WebhookRequest,
    timeoutMs: number,
  ): Promise<AttemptOutcome> {
    const attempt: Attempt = { interrupted: undefined, exchange: undefined };
    const timer = setTimeout(interrupt, timeoutMs, attempt, 'late' satisfies Interruption);
    this.#underWay.add(attempt);
    try {
      const first = await this.#exchange(target, request, attempt, false);
      const { result } = first.stale ? await this.#exchange(target, request, attempt, true) : first;
      return outcomeOf(result, timeoutMs);
    } finally {
      clearTimeout(timer);
      this.#underWay.delete(attempt);
    }
  }

  /** `stale`: a connection used before was closed without a byte, so most likely the receiver never saw this request. */
  async #exchange(
    target: WebhookTarget,
    request: WebhookRequest,
    attempt: Attempt,
    fresh: boolean,
  ): Promise<{ result: ExchangeResult; stale: boolean }> {
    const connection = this.#pool.take(target.origin, fresh);
    const connectsBefore = connection.connects;
    const exchange = new Exchange();
    attempt.exchange = exchange;
    if (attempt.interrupted) exchange.interrupt(attempt.interrupted);
    else this.#dispatch(connection, target, request, exchange);
    const result = await exchange.result;
    if (result.kind === 'answered') {
      this.#pool.giveBack(connection);
      return { result, stale: false };
    }
    exchange.cancel();
    this.#pool.destroy(connection);
    const reused = connectsBefore > 0 && connection.connects === connectsBefore;
    return { result, stale: !fresh && reused && result.kind === 'broken' && result.silent };
  }

  #dispatch(
    connection: Connection,
    target: WebhookTarget,
    request: WebhookRequest,
    exchange: Exchange,
  ): void {
    const { event, eventId, attempt, key } = request;
    const body = Buffer.from(request.body, 'utf8');
    const timestamp = String(Math.floor(this.#now() / 1000));
    const headers = {
      'Content-Type': 'application/json',
      'X-SVC-Event': event,
      'X-SVC-Event-Id': eventId,
      'X-SVC-Signature': signatureOf(body, key),
      'X-SVC-Signature-V2': timedSignatureOf(eventId, timestamp, body, key),
      'X-SVC-Timestamp': timestamp,
      'X-SVC-Delivery-Attempt': String(attempt),
    };
    connection.dispatch({ method: 'POST', path: target.path, headers, body }, exchange);
  }

  close(): void {
    this.#closed = true;
    for (const attempt of this.#underWay) interrupt(attempt, 'cut_off');
    this.#pool.close();
  }
}
