/**
 * Verifies a webhook of the Receivables Fund Assignment and Settlement Service. Copy this file, and `verify.d.mts` beside it for
 * its types, into your receiver: it needs nothing but Node.js 20 or later. Pass the body as the bytes that came in, before any JSON
 * parser has touched them.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

export class WebhookRejectedError extends Error {
  name = 'WebhookRejectedError';
  constructor(reason, message) {
    super(message);
    this.reason = reason;
  }
}

const DEFAULT_TOLERANCE_SECONDS = 300;
const DIGEST = /^[0-9a-f]{64}$/;
const SECONDS = /^\d{1,12}$/;

/** Takes the same time wherever the difference is, so that nobody can find a signature by trying. */
const matches = (hexadecimal, secret, parts) => {
  const digest = createHmac('sha256', secret);
  for (const part of parts) digest.update(part);
  return DIGEST.test(hexadecimal) && timingSafeEqual(Buffer.from(hexadecimal, 'hex'), digest.digest());
};

const header = ({ headers }, name) => {
  const value = headers[name];
  if (typeof value === 'string' && value !== '') return value;
  throw new WebhookRejectedError('missing_header', `the header ${name} is missing`);
};

/**
 * Returns the event's id, by which you recognise an event that you have handled already. Handle the body only after this.
 * Throws WebhookRejectedError: answer such a request with 401 and forget it.
 */
export const verifyWebhook = (webhook, options) => {
  const { toleranceSeconds = DEFAULT_TOLERANCE_SECONDS, now = Math.floor(Date.now() / 1000) } = options;
  const secrets = options.secrets ?? [options.secret];
  if (secrets.length === 0 || secrets.some((secret) => typeof secret !== 'string' || secret === '')) {
    throw new TypeError('there is no signing secret, or an empty one');
  }
  const eventId = header(webhook, 'x-svc-event-id');
  const timestamp = header(webhook, 'x-svc-timestamp');
  const plain = header(webhook, 'x-svc-signature');
  const timed = header(webhook, 'x-svc-signature-v2');
  const signedBy = (secret) =>
    matches(plain, secret, [webhook.body]) &&
    matches(timed, secret, [`${eventId}.${timestamp}.`, webhook.body]);
  if (!secrets.some(signedBy)) {
    throw new WebhookRejectedError('wrong_signature', 'not signed with these secrets, or changed on the way');
  }
  if (!SECONDS.test(timestamp) || !(Math.abs(now - Number(timestamp)) <= toleranceSeconds)) {
    throw new WebhookRejectedError('stale_timestamp', `sent at ${timestamp}, which is too far from now`);
  }
  return eventId;
};
