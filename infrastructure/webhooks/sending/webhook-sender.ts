import { createHmac, createSecretKey, randomBytes } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { secretContext } from '../../../application/webhooks/subscriptions.ts';
import type { Addresses, WebhookTarget } from '../addresses/address-guard.ts';

const CACHED_KEYS = 5_000;
const SECRET_BYTES = 32;
const PREFIX = 'whsec_';

export const newSecret = (): string => PREFIX + randomBytes(SECRET_BYTES).toString('base64');

interface SigningKey {
  /** All of it, as text. */
  readonly text: KeyObject;
  /** What is written behind its prefix, decoded, for Standard Webhooks. */
  readonly bytes: KeyObject;
}

/** Secrets of before 2026.11.4 are base64url, which Node.js decodes as well. */
export const signingKeyOf = (secret: string): SigningKey => ({
  text: createSecretKey(secret, 'utf8'),
  bytes: createSecretKey(secret.replace(PREFIX, ''), 'base64'),
});

/** @throws Error when the text was sealed for another context or tampered with */
export type OpenSecret = (sealed: string, context: string) => string;

/** Opens sealed secrets, each once: a rotated secret is another sealed text, so an old key is never used for it. */
export class WebhookSecrets {
  readonly #open: OpenSecret;
  readonly #keys = new LRUCache<string, SigningKey>({ max: CACHED_KEYS });

  constructor(open: OpenSecret) {
    this.#open = open;
  }

  /** @throws Error when the secret cannot be opened */
  keyOf(webhookId: string, sealedSecret: string): SigningKey {
    const known = this.#keys.get(sealedSecret);
    if (known) return known;
    const key = signingKeyOf(this.#open(sealedSecret, secretContext(webhookId)));
    this.#keys.set(sealedSecret, key);
    return key;
  }
}

/** HMAC-SHA256 of the body's bytes, hexadecimal. */
export const signatureOf = (body: Buffer, { text }: Pick<SigningKey, 'text'>): string =>
  createHmac('sha256', text).update(body).digest('hex');

/** HMAC-SHA256 of `{event id}.{timestamp}.{body}`: an old request cannot be passed off as a new one. */
const timed = (eventId: string, timestamp: string, body: Buffer, key: KeyObject): Buffer =>
  createHmac('sha256', key).update(`${eventId}.${timestamp}.`).update(body).digest();

/** Hexadecimal. */
export const timedSignatureOf = (
  eventId: string,
  timestamp: string,
  body: Buffer,
  { text }: Pick<SigningKey, 'text'>,
): string => timed(eventId, timestamp, body, text).toString('hex');

/** What a receiver checks and reads beside the body; the last three are those of Standard Webhooks. @param timestamp UNIX seconds */
export const signedHeaders = (
  { event, eventId, attempt, body, key }: Omit<WebhookRequest, 'body'> & { readonly body: Buffer },
  timestamp: string,
): Record<string, string> => ({
  'Content-Type': 'application/json',
  'X-SVC-Event': event,
  'X-SVC-Event-Id': eventId,
  'X-SVC-Signature': signatureOf(body, key),
  'X-SVC-Signature-V2': timedSignatureOf(eventId, timestamp, body, key),
  'X-SVC-Timestamp': timestamp,
  'X-SVC-Delivery-Attempt': String(attempt),
  'webhook-id': eventId,
  'webhook-timestamp': timestamp,
  'webhook-signature': `v1,${timed(eventId, timestamp, body, key.bytes).toString('base64')}`,
});

/** Stable words for metrics and logs. */
type FailureReason =
  | 'http_status'
  | 'timeout'
  | 'connection_refused'
  | 'connection_lost'
  | 'unreachable'
  | 'dns'
  | 'certificate'
  | 'tls'
  | 'blocked_address'
  | 'invalid_answer'
  | 'invalid_url'
  | 'other';

interface Answer {
  /** The first 2 KiB of the answer's body; absent when nothing of it came. */
  readonly responseBody?: string;
}

export interface FailedAttempt extends Answer {
  readonly kind: 'failed';
  /** null when no status line came back */
  readonly status: number | null;
  readonly reason: FailureReason;
  /** One line for the delivery log. */
  readonly error: string;
}

export type AttemptOutcome =
  | ({ readonly kind: 'delivered'; readonly status: number } & Answer)
  | FailedAttempt
  /** Cut off by this service while it stops: what the receiver made of it is unknown. */
  | { readonly kind: 'abandoned' };

/** Statuses by which a gateway says that what is behind it is not there. */
const GATEWAY_DOWN = new Set([502, 503, 504]);

/** True when the endpoint as a whole is not answering, rather than refusing this one event. */
export const saysEndpointIsDown = (outcome: AttemptOutcome): boolean => {
  if (outcome.kind !== 'failed') return false;
  if (outcome.reason === 'http_status') return GATEWAY_DOWN.has(outcome.status ?? 0);
  return outcome.status === null;
};

export interface WebhookRequest {
  readonly event: string;
  readonly eventId: string;
  readonly body: string;
  readonly attempt: number;
  readonly key: SigningKey;
}

/** Where a request goes: addresses that were checked, and no other. */
export interface Route {
  readonly target: WebhookTarget;
  /** Undefined when the URL itself names the address. */
  readonly addresses: Addresses | undefined;
}

export type Located =
  { readonly kind: 'found'; readonly route: Route } | FailedAttempt | { readonly kind: 'abandoned' };

/** Makes attempts, each in two steps, so that what waits for a name server need not hold a place among those that send. Never throws. */
export interface WebhookSender {
  /** First step. Answers at once, without a promise, unless a name server has to be asked. */
  locate(url: string, applicationId: string, timeoutMs: number): Located | Promise<Located>;
  /** @param timeoutMs for all of it: connection, TLS, headers and body */
  send(request: WebhookRequest, route: Route, timeoutMs: number): Promise<AttemptOutcome>;
  /** Cuts off what is under way. */
  close(): void;
}
