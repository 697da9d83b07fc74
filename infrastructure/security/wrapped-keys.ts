import { randomBytes } from 'node:crypto';
import type { KeyStore } from '../../application/coordination/key-store.ts';
import type { MasterKeys, WrappingPurpose } from './master-keys.ts';

export type NamedKeys = Pick<WrappedKeys, 'putIfAbsent' | 'get' | 'unwrap' | 'delete' | 'list'>;

/** Keys of one kind in the key store, each wrapped by the current master key and bound to its name. */
export class WrappedKeys {
  readonly #store: KeyStore;
  readonly #masterKeys: MasterKeys;
  readonly #purpose: WrappingPurpose;

  constructor(store: KeyStore, masterKeys: MasterKeys, purpose: WrappingPurpose) {
    this.#store = store;
    this.#masterKeys = masterKeys;
    this.#purpose = purpose;
  }

  /** Stores the key unless one exists; answers the stored one. */
  async putIfAbsent(name: string, text: string): Promise<string> {
    for (;;) {
      const { condition } = this.#masterKeys;
      const wrapped = this.#masterKeys.wrap(this.#purpose, text, name);
      const kept = await this.#store.putIfAbsentWhile(condition, name, wrapped);
      if (kept !== undefined) return kept === wrapped ? text : this.unwrap(name, kept);
      await this.#masterKeys.refresh();
    }
  }

  async get(name: string): Promise<string | undefined> {
    const wrapped = await this.#store.get(name);
    return wrapped === undefined ? undefined : this.unwrap(name, wrapped);
  }

  unwrap(name: string, wrapped: string): string {
    return this.#masterKeys.unwrap(this.#purpose, wrapped, name);
  }

  delete(name: string): Promise<void> {
    return this.#store.delete(name);
  }

  list(prefix: string): ReturnType<KeyStore['list']> {
    return this.#store.list(prefix);
  }
}

const BYTES = 32;

/** Long-lived keys that the master key wraps: they stay the same when it is rotated. */
export const DATA_KEYS = {
  /** Of idempotency fingerprints and of the borrower index. */
  fingerprints: 'data:fingerprints',
  /** Of the seals over the log. */
  seals: 'data:log-seals',
  /** Signs anchors: a key pair. */
  anchors: 'data:anchor-signing',
} as const;

/** The key, made and durable when there was none. */
export const dataKey = async (keys: NamedKeys, name: string): Promise<Buffer> => {
  const text =
    (await keys.get(name)) ?? (await keys.putIfAbsent(name, randomBytes(BYTES).toString('base64url')));
  return Buffer.from(text, 'base64url');
};
