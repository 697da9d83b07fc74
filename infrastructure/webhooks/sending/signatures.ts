import { createHmac } from 'node:crypto';
import type { KeyObject } from 'node:crypto';

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
