/**
 * Verifies a webhook of the Receivables Fund Assignment and Settlement Service. Copy this one file into your receiver: it needs
 * nothing but Node.js. Pass the body as the bytes that came in, before any JSON parser has touched them.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

export interface ReceivedWebhook {
  /** Raw request body. */
  readonly body: Uint8Array;
  /** Request headers by lower-case name, as Node.js gives them. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

export interface VerifyOptions {
  /** The subscription's `signing_secret`. */
  readonly secret: string;
  /** Seconds that the time of sending may differ from this machine's clock; default 300. */
  readonly toleranceSeconds?: number;
  /** UNIX seconds; default: now. */
  readonly now?: number;
}

export type RejectionReason = 'missing_header' | 'stale_timestamp' | 'wrong_signature';

export class WebhookRejectedError extends Error {
  override readonly name = 'WebhookRejectedError';
  readonly reason: RejectionReason;
  constructor(reason: RejectionReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

const DEFAULT_TOLERANCE_SECONDS = 300;
const DIGEST = /^[0-9a-f]{64}$/;
const SECONDS = /^\d{1,12}$/;

const hmac = (secret: string, ...parts: readonly (string | Uint8Array)[]): Buffer => {
  const digest = createHmac('sha256', secret);
  for (const part of parts) digest.update(part);
  return digest.digest();
};

/** Takes the same time wherever the difference is, so that nobody can find a signature by trying. */
const matches = (hexadecimal: string, expected: Buffer): boolean =>
  DIGEST.test(hexadecimal) && timingSafeEqual(Buffer.from(hexadecimal, 'hex'), expected);

const header = ({ headers }: ReceivedWebhook, name: string): string => {
  const value = headers[name];
  if (typeof value === 'string' && value !== '') return value;
  throw new WebhookRejectedError('missing_header', `the header ${name} is missing`);
};

/**
 * Returns the event's id, by which you recognise an event that you have handled already. Handle the body only after this.
 * @throws WebhookRejectedError answer such a request with 401 and forget it
 */
export const verifyWebhook = (webhook: ReceivedWebhook, options: VerifyOptions): string => {
  const {
    secret,
    toleranceSeconds = DEFAULT_TOLERANCE_SECONDS,
    now = Math.floor(Date.now() / 1000),
  } = options;
  const eventId = header(webhook, 'x-svc-event-id');
  const timestamp = header(webhook, 'x-svc-timestamp');
  const plain = matches(header(webhook, 'x-svc-signature'), hmac(secret, webhook.body));
  const prefix = `${eventId}.${timestamp}.`;
  const timed = matches(header(webhook, 'x-svc-signature-v2'), hmac(secret, prefix, webhook.body));
  if (!plain || !timed) {
    throw new WebhookRejectedError('wrong_signature', 'not signed with this secret, or changed on the way');
  }
  if (!SECONDS.test(timestamp) || Math.abs(now - Number(timestamp)) > toleranceSeconds) {
    throw new WebhookRejectedError('stale_timestamp', `sent at ${timestamp}, which is too far from now`);
  }
  return eventId;
};
