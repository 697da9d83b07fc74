import type { Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import type { SecureContext } from 'node:tls';
import { LRUCache } from 'lru-cache';
import { errors } from 'undici';
import { BlockedAddressError, parseWebhookUrl } from '../addresses/address-guard.ts';
import type { Addresses, DnsAddressGuard, WebhookTarget } from '../addresses/address-guard.ts';
import { DeliveryRequest } from './delivery-request.ts';
import type { DeliveryAnswer, Interruption } from './delivery-request.ts';
import { PinnedConnector, ReceiverConnections } from './receiver-connections.ts';
import type {
  AttemptOutcome,
  FailedAttempt,
  Located,
  Route,
  WebhookRequest,
  WebhookSender,
} from './webhook-sender.ts';

type Failure = Pick<FailedAttempt, 'reason' | 'error'>;

const CONNECTION_LOST = 'the connection was closed before the answer was complete';

/** Error codes of Node.js, undici and the resolver, as an operator would say them. */
const byCode: Readonly<Record<string, Failure>> = {
  ECONNREFUSED: { reason: 'connection_refused', error: 'connection refused' },
  ECONNRESET: { reason: 'connection_lost', error: CONNECTION_LOST },
  EPIPE: { reason: 'connection_lost', error: CONNECTION_LOST },
  UND_ERR_SOCKET: { reason: 'connection_lost', error: CONNECTION_LOST },
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: { reason: 'connection_lost', error: CONNECTION_LOST },
  HPE_INVALID_EOF_STATE: { reason: 'connection_lost', error: CONNECTION_LOST },
  EHOSTUNREACH: { reason: 'unreachable', error: 'host unreachable' },
  ENETUNREACH: { reason: 'unreachable', error: 'network unreachable' },
  EADDRNOTAVAIL: { reason: 'unreachable', error: 'network unreachable' },
  ENOTFOUND: { reason: 'dns', error: 'dns: the name does not exist' },
  ENODATA: { reason: 'dns', error: 'dns: the name has no address' },
  EAI_AGAIN: { reason: 'dns', error: 'dns: no answer for the name' },
  ETIMEOUT: { reason: 'dns', error: 'dns: no answer for the name' },
  ESERVFAIL: { reason: 'dns', error: 'dns: no answer for the name' },
  UND_ERR_HEADERS_TIMEOUT: { reason: 'timeout', error: 'timeout: no answer' },
  UND_ERR_BODY_TIMEOUT: { reason: 'timeout', error: 'timeout: no complete answer' },
  UND_ERR_HEADERS_OVERFLOW: { reason: 'invalid_answer', error: 'invalid answer: its headers are too large' },
};

/** Verification results of OpenSSL, and the host name check of Node.js. */
const certificates: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: 'self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'issued by an authority that is not trusted',
  CERT_SIGNATURE_FAILURE: 'issued by an authority that is not trusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'issued by an authority that is not trusted, or an intermediate one is missing',
  UNABLE_TO_GET_ISSUER_CERT: 'issued by an authority that is not trusted, or an intermediate one is missing',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    'issued by an authority that is not trusted, or an intermediate one is missing',
  CERT_HAS_EXPIRED: 'expired',
  CERT_NOT_YET_VALID: 'not valid yet',
  CERT_REVOKED: 'revoked',
  ERR_TLS_CERT_ALTNAME_INVALID: 'issued for another host name',
  HOSTNAME_MISMATCH: 'issued for another host name',
  /** What Node.js has no name for. */
  UNSPECIFIED: 'refused, as one with a key or a signature that is too weak',
};
const OTHER_CERTIFICATE_CODE = /CERT|CHAIN|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH/;

const codeOf = (error: unknown): string => {
  const { code, cause } = (error ?? {}) as { code?: unknown; cause?: unknown };
  // Several addresses were tried: the first failure stands for all.
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0]);
  if (typeof code === 'string') return code;
  return cause === undefined ? '' : codeOf(cause);
};

const failureOf = (error: unknown): Failure => {
  if (error instanceof BlockedAddressError) {
    return { reason: 'blocked_address', error: 'blocked address: the host is not globally routable' };
  }
  const code = codeOf(error);
  const known = byCode[code];
  if (known) return known;
  const certificate = certificates[code];
  if (certificate) return { reason: 'certificate', error: `certificate problem: ${certificate}` };
  if (OTHER_CERTIFICATE_CODE.test(code))
    return { reason: 'certificate', error: `certificate problem: ${code}` };
  if (/^ERR_SSL|^ERR_TLS|^EPROTO$/.test(code))
    return { reason: 'tls', error: `tls: no common protocol (${code})` };
  if (code === 'ETIMEDOUT' || code === 'UND_ERR_CONNECT_TIMEOUT') {
    return { reason: 'timeout', error: 'timeout: no connection' };
  }
  if (error instanceof errors.HTTPParserError || code.startsWith('UND_ERR')) {
    return { reason: 'invalid_answer', error: `invalid answer: not HTTP/1.1 (${code || 'unreadable'})` };
  }
  return { reason: 'other', error: `connection failed (${code || 'unknown'})` };
};

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
  `timeout: no complete answer within ${Math.round(timeoutMs)} ms (${phase})`;

const verdictOn = (status: number): AttemptOutcome => {
  if (status >= 200 && status < 300) return { kind: 'delivered', status };
  const redirect = status >= 300 && status < 400 ? ': redirects are not followed' : '';
  return { kind: 'failed', status, reason: 'http_status', error: `http status ${status}${redirect}` };
};

/** Behind a status, another length is a body that ended too soon. */
const brokenBy = ({ error, status }: Extract<DeliveryAnswer, { kind: 'broken' }>): Failure =>
  status === null && error instanceof errors.ResponseContentLengthMismatchError
    ? { reason: 'invalid_answer', error: 'invalid answer: its headers do not say one length of its body' }
    : failureOf(error);

export const outcomeOf = (result: DeliveryAnswer, timeoutMs: number): AttemptOutcome => {
  switch (result.kind) {
    case 'answered':
      return verdictOn(result.status);
    case 'broken':
      return { kind: 'failed', status: result.status, ...brokenBy(result) };
    case 'late': {
      const error = lateIn(timeoutMs, result.phase);
      return { kind: 'failed', status: result.status, reason: 'timeout', error };
    }
    case 'refused':
      return {
        kind: 'failed',
        status: null,
        reason: 'invalid_answer',
        error: `invalid answer: ${result.why}`,
      };
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
    else connection.post(route.target.path, request, this.#now(), exchange);
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

  close(): void {
    this.#closing.abort();
    for (const attempt of this.#underWay) interrupt(attempt, 'cut_off');
    this.#pool.close();
  }
}
