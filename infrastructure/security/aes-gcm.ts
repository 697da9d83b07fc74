import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { BrokenSealError } from '../../application/ports/borrower-vault.ts';

const VERSION = 'v1';
const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Text sealed with AES-256-GCM: `v1.` and base64url of nonce, ciphertext and tag. The context is authenticated but not stored,
 * so that a sealed text copied to another place (another client, stream or subscription) does not open there.
 * @param key 32 bytes
 */
export const sealText = (key: Uint8Array, text: string, context: string): string => {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(authenticated(context));
  const sealed = [nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()];
  return `${VERSION}.${Buffer.concat(sealed).toString('base64url')}`;
};

/** @throws BrokenSealError */
export const openText = (key: Uint8Array, sealed: string, context: string): string => {
  const bytes = decode(sealed, context);
  const nonce = bytes.subarray(0, NONCE_BYTES);
  const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(authenticated(context));
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  const text = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8');
  try {
    return text + decipher.final('utf8');
  } catch {
    throw broken(context);
  }
};

const authenticated = (context: string): Buffer => Buffer.from(`${VERSION}|${context}`, 'utf8');

const broken = (context: string): BrokenSealError =>
  new BrokenSealError(
    `the sealed text of ${context} does not open: changed, moved, or sealed with another key`,
  );

const decode = (sealed: string, context: string): Buffer => {
  const encoded = sealed.startsWith(`${VERSION}.`) ? sealed.slice(VERSION.length + 1) : '';
  const bytes = Buffer.from(encoded, 'base64url');
  // Buffer skips characters that are not base64url; comparing keeps one spelling per sealed text.
  const wellFormed = bytes.length >= NONCE_BYTES + TAG_BYTES && bytes.toString('base64url') === encoded;
  if (!wellFormed) throw broken(context);
  return bytes;
};
