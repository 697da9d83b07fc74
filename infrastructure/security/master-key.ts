import { createSecretKey, hkdfSync, randomBytes } from 'node:crypto';
import type { KeyObject } from 'node:crypto';

const BYTES = 32;
const BASE64_OF_32_BYTES = /^[A-Za-z0-9+/]{43}=$/;

/** The one secret outside the database. It never seals anything itself: each purpose has a sub-key of its own (HKDF-SHA256). */
export class MasterKey {
  readonly #key: KeyObject;
  /** 16 hexadecimal digits: names the key, and tells nothing about it. */
  readonly id: string;

  private constructor(key: KeyObject) {
    this.#key = key;
    this.id = this.derive('key-id').toString('hex').slice(0, 16);
  }

  static generate(): { key: MasterKey; base64: string } {
    const bytes = randomBytes(BYTES);
    return { key: new MasterKey(createSecretKey(bytes)), base64: bytes.toString('base64') };
  }

  /** @param base64 standard alphabet, with padding; `undefined` unless it is exactly 32 bytes */
  static parse(base64: string): MasterKey | undefined {
    if (!BASE64_OF_32_BYTES.test(base64)) return undefined;
    return new MasterKey(createSecretKey(Buffer.from(base64, 'base64')));
  }

  /** The same key in another thread of this process. */
  static of(handle: KeyObject): MasterKey {
    return new MasterKey(handle);
  }

  /** What can be handed to another thread; it does not show the key. */
  handle(): KeyObject {
    return this.#key;
  }

  /** 32 bytes, always the same for the same purpose. */
  derive(purpose: string): Buffer {
    return Buffer.from(hkdfSync('sha256', this.#key, '', `receivables-fund-service/${purpose}`, BYTES));
  }
}
