import { createHmac, createSecretKey, randomBytes, randomUUID } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { secretContext } from '../../../application/ports/webhook-subscriptions.ts';
import type { RandomSource, Sealer } from '../../../application/ports/webhook-subscriptions.ts';

const CACHED_KEYS = 5_000;
const SECRET_BYTES = 32;

/** Opens sealed secrets, each once: a rotated secret is another sealed text, so an old key is never used for it. */
export class WebhookSecrets {
  readonly #sealer: Sealer;
  readonly #keys = new LRUCache<string, KeyObject>({ max: CACHED_KEYS });

  constructor(sealer: Sealer) {
    this.#sealer = sealer;
  }

  /** @throws Error when the secret cannot be opened */
  keyOf(webhookId: string, sealedSecret: string): KeyObject {
    const known = this.#keys.get(sealedSecret);
    if (known) return known;
    const secret = this.#sealer.open(sealedSecret, secretContext(webhookId));
    const key = createSecretKey(Buffer.from(secret, 'utf8'));
    this.#keys.set(sealedSecret, key);
    return key;
  }
}

export class SystemRandom implements RandomSource {
  id(): string {
    return randomUUID();
  }

  secret(): string {
    return `whsec_${randomBytes(SECRET_BYTES).toString('base64url')}`;
  }
}

/** HMAC-SHA256 of the body's bytes, hexadecimal. */
export const signatureOf = (body: Buffer, key: KeyObject): string =>
  createHmac('sha256', key).update(body).digest('hex');

/** HMAC-SHA256 of `{event id}.{timestamp}.{body}`, hexadecimal: an old request cannot be passed off as a new one. */
export const timedSignatureOf = (eventId: string, timestamp: string, body: Buffer, key: KeyObject): string =>
  createHmac('sha256', key).update(`${eventId}.${timestamp}.`).update(body).digest('hex');

export interface SignedRequest {
  readonly event: string;
  readonly eventId: string;
  readonly attempt: number;
  readonly body: Buffer;
  readonly key: KeyObject;
}

/** What a receiver checks and reads beside the body. @param timestamp UNIX seconds */
export const signedHeaders = (
  { event, eventId, attempt, body, key }: SignedRequest,
  timestamp: string,
): Record<string, string> => ({
  'Content-Type': 'application/json',
  'X-SVC-Event': event,
  'X-SVC-Event-Id': eventId,
  'X-SVC-Signature': signatureOf(body, key),
  'X-SVC-Signature-V2': timedSignatureOf(eventId, timestamp, body, key),
  'X-SVC-Timestamp': timestamp,
  'X-SVC-Delivery-Attempt': String(attempt),
});
