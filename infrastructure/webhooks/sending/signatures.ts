import { createHmac } from 'node:crypto';
import type { KeyObject } from 'node:crypto';

/** HMAC-SHA256 of the body's bytes, hexadecimal. */
export const signatureOf = (body: Buffer, key: KeyObject): string =>
  createHmac('sha256', key).update(body).digest('hex');

/** HMAC-SHA256 of `{event id}.{timestamp}.{body}`, hexadecimal: an old request cannot be passed off as a new one. */
export const timedSignatureOf = (eventId: string, timestamp: string, body: Buffer, key: KeyObject): string =>
  createHmac('sha256', key).update(`${eventId}.${timestamp}.`).update(body).digest('hex');
