import { createSecretKey, hkdfSync, randomBytes } from 'node:crypto';
import type { KeyObject } from 'node:crypto';

const BYTES = 32;
const BASE64_OF_32_BYTES = /^[A-Za-z0-9+/]{43}=$/;

/** The one secret outside the database. It never seals anything itself: each purpose has a sub-key of its own (HKDF-SHA256). */
export class MasterKey {
  readonly #key: KeyObject;

  private constructor(bytes: Uint8Array) {
    this.#key = createSecretKey(bytes);
  }

  static generate(): { key: MasterKey; base64: string } {
    const bytes = randomBytes(BYTES);
    return { key: new MasterKey(bytes), base64: bytes.toString('base64') };
  }

  /** @param base64 standard alphabet, with padding; `undefined` unless it is exactly 32 bytes */
  static parse(base64: string): MasterKey | undefined {
    if (!BASE64_OF_32_BYTES.test(base64)) return undefined;
    return new MasterKey(Buffer.from(base64, 'base64'));
  }

  /** 32 bytes, always the same for the same purpose. */
  derive(purpose: string): Buffer {
    return Buffer.from(hkdfSync('sha256', this.#key, '', `receivables-fund-service/${purpose}`, BYTES));
  }
}
