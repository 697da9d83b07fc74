import { createHash, randomBytes } from 'node:crypto';
import type { LRUCache } from 'lru-cache';
import { MIB, sizedCache } from '../../application/support/sized-cache.ts';
import type { NamedKeys } from './wrapped-keys.ts';

/** The data key of one operation. `id` names the key without revealing it. */
export interface OperationKey {
  /** 16 hexadecimal digits. */
  readonly id: string;
  /** 32 bytes. */
  readonly bytes: Buffer;
}

/** Longest time an unwrapped key stays in memory, and so the time until every process has forgotten a borrower. */
const FORGOTTEN_EVERYWHERE_AFTER_MS = 30_000;
/** Bytes of a key with its id and its buffer. */
const KEY_BYTES = 300;

/** One random data key an operation, wrapped by the master key, named `operation:<stream>` in the key store. */
export class OperationKeys {
  readonly #keys: NamedKeys;
  readonly #cache: LRUCache<string, OperationKey>;
  readonly #making = new Map<string, Promise<OperationKey>>();

  constructor(keys: NamedKeys, cacheBytes = 2 * MIB) {
    this.#keys = keys;
    const ttl = FORGOTTEN_EVERYWHERE_AFTER_MS;
    this.#cache = sizedCache<OperationKey>(cacheBytes, () => KEY_BYTES, { ttl });
  }

  /** The operation's key, made and durable when there was none. */
  async key(stream: string): Promise<OperationKey> {
    const cached = this.#cache.get(stream) ?? this.#making.get(stream);
    if (cached !== undefined) return cached;
    const making = this.#make(stream).finally(() => this.#making.delete(stream));
    this.#making.set(stream, making);
    return making;
  }

  /** The operation's key; undefined when it never had one, or when the key was deleted. */
  async find(stream: string): Promise<OperationKey | undefined> {
    const cached = this.#cache.get(stream);
    if (cached !== undefined) return cached;
    const text = await this.#keys.get(nameOf(stream));
    return text === undefined ? undefined : this.#keep(stream, text);
  }

  /** Deletes the key, and so makes everything that was sealed for this operation unreadable for good. */
  async forget(stream: string): Promise<void> {
    await this.#keys.delete(nameOf(stream));
    this.#cache.delete(stream);
  }

  /** The same for a key that was made before this instant, ISO 8601 UTC; a younger one stays. */
  async forgetOlder(stream: string, than: string): Promise<void> {
    const name = nameOf(stream);
    const key = (await this.#keys.list(name)).find((listed) => listed.name === name);
    if (key && key.createdAt < than) await this.forget(stream);
  }

  async #make(stream: string): Promise<OperationKey> {
    const fresh = randomBytes(32).toString('base64url');
    return this.#keep(stream, await this.#keys.putIfAbsent(nameOf(stream), fresh));
  }

  #keep(stream: string, text: string): OperationKey {
    const bytes = Buffer.from(text, 'base64url');
    const key = { id: createHash('sha256').update('key id').update(bytes).digest('hex').slice(0, 16), bytes };
    this.#cache.set(stream, key);
    return key;
  }
}

const nameOf = (stream: string): string => `operation:${stream}`;
