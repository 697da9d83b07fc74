import { createHmac, timingSafeEqual } from 'node:crypto';

/** A request as it came in. */
export interface ReceivedWebhook {
  /** The bytes as they arrived, before any JSON parser has touched them. */
  readonly body: Uint8Array | string;
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
}

export interface VerifyOptions {
  /** The subscription's `signing_secret`; while it is rotated, a list of the new one and the old one. */
  readonly secret: string | readonly string[];
  /** Seconds that the time of sending may differ from this machine's clock; default 300. */
  readonly toleranceSeconds?: number;
  /** UNIX seconds; default: now. */
  readonly now?: number;
  /**
   * Which headers are looked at. `svc` (default): X-SVC-Signature and X-SVC-Signature-V2. `standard`: those of Standard Webhooks, where
   * a gateway lets only these through.
   */
  readonly scheme?: 'svc' | 'standard';
}

export type RejectionReason = 'missing_header' | 'wrong_signature' | 'stale_timestamp';

/** Answer such a request with 401 and forget it. */
export class WebhookRejectedError extends Error {
  override name = 'WebhookRejectedError';
  readonly reason: RejectionReason;

  constructor(reason: RejectionReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

const HEX_DIGEST = /^[0-9a-f]{64}$/;
const SECONDS = /^\d{1,12}$/;
const DEFAULT_TOLERANCE = 300;

const headerOf = ({ headers }: ReceivedWebhook, name: string): string => {
  const value =
    headers instanceof Headers
      ? headers.get(name)
      : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  if (typeof value === 'string' && value !== '') return value;
  throw new WebhookRejectedError('missing_header', `the header ${name} is missing`);
};

const digest = (key: string | Uint8Array, parts: readonly (string | Uint8Array)[]): Buffer => {
  const hmac = createHmac('sha256', key);
  for (const part of parts) hmac.update(part);
  return hmac.digest();
};

/** Takes the same time wherever the difference is, so that nobody finds a signature by trying. */
const equal = (claimed: Buffer, computed: Buffer): boolean =>
  claimed.length === computed.length && timingSafeEqual(claimed, computed);

const hexadecimal = (text: string): Buffer =>
  HEX_DIGEST.test(text) ? Buffer.from(text, 'hex') : Buffer.alloc(0);

interface Signed {
  readonly timestamp: string;
  /** Whether this secret made the signatures. */
  readonly by: (secret: string) => boolean;
}

/** Keys are the whole secret as text. */
const svc = (webhook: ReceivedWebhook): Signed => {
  const [id, timestamp] = [headerOf(webhook, 'x-svc-event-id'), headerOf(webhook, 'x-svc-timestamp')];
  const plain = hexadecimal(headerOf(webhook, 'x-svc-signature'));
  const timed = hexadecimal(headerOf(webhook, 'x-svc-signature-v2'));
  return {
    timestamp,
    by: (secret) =>
      equal(plain, digest(secret, [webhook.body])) &&
      equal(timed, digest(secret, [`${id}.${timestamp}.`, webhook.body])),
  };
};

/** Keys are the bytes that the part behind `whsec_` encodes, in either alphabet of Base64. */
const standard = (webhook: ReceivedWebhook): Signed => {
  const [id, timestamp] = [headerOf(webhook, 'webhook-id'), headerOf(webhook, 'webhook-timestamp')];
  const signatures = headerOf(webhook, 'webhook-signature')
    .split(' ')
    .filter((one) => one.startsWith('v1,'))
    .map((one) => Buffer.from(one.slice('v1,'.length), 'base64'));
  return {
    timestamp,
    by: (secret) => {
      const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
      if (key.length === 0) throw new TypeError('the signing secret holds no key');
      const computed = digest(key, [`${id}.${timestamp}.`, webhook.body]);
      return signatures.some((one) => equal(one, computed));
    },
  };
};

/** @throws WebhookRejectedError */
const verify = (webhook: ReceivedWebhook, options: VerifyOptions): void => {
  const { toleranceSeconds = DEFAULT_TOLERANCE, now = Math.floor(Date.now() / 1_000) } = options;
  const secrets = typeof options.secret === 'string' ? [options.secret] : options.secret;
  if (secrets.length === 0 || secrets.some((secret) => typeof secret !== 'string' || secret === '')) {
    throw new TypeError('there is no signing secret, or an empty one');
  }
  const { timestamp, by } = options.scheme === 'standard' ? standard(webhook) : svc(webhook);
  if (!secrets.some(by)) {
    throw new WebhookRejectedError('wrong_signature', 'not signed with these secrets, or changed on the way');
  }
  if (!SECONDS.test(timestamp) || !(Math.abs(now - Number(timestamp)) <= toleranceSeconds)) {
    throw new WebhookRejectedError('stale_timestamp', `sent at ${timestamp}, which is too far from now`);
  }
};

/** The event in a webhook that is genuine. @throws WebhookRejectedError */
export const verifiedEvent = (webhook: ReceivedWebhook, options: VerifyOptions): unknown => {
  verify(webhook, options);
  const { body } = webhook;
  return JSON.parse(typeof body === 'string' ? body : new TextDecoder().decode(body));
};
