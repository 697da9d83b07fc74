import type { KeyStore, Rewrapped, WrappedText } from '../../application/coordination/key-store.ts';
import { openText, sealText } from '../../infrastructure/security/aes-gcm.ts';
import { MasterKey } from '../../infrastructure/security/master-key.ts';
import type { NamedKeys } from '../../infrastructure/security/wrapped-keys.ts';

interface Kept {
  readonly wrapped: string;
  readonly createdAt: string;
}

/** Keys in a map; `calls` counts what was asked of it. */
export class InMemoryKeyStore implements KeyStore {
  readonly keys = new Map<string, Kept>();
  readonly calls = { putIfAbsent: 0, get: 0, list: 0 };
  /** While set, every call fails with it. */
  failure: Error | undefined;

  async putIfAbsent(name: string, wrapped: string): Promise<string> {
    this.calls.putIfAbsent += 1;
    await this.#answer();
    return this.#put(name, wrapped);
  }

  #put(name: string, wrapped: string): string {
    const kept = this.keys.get(name);
    if (kept === undefined) this.keys.set(name, { wrapped, createdAt: '2026-01-15T12:00:00.000Z' });
    return kept?.wrapped ?? wrapped;
  }

  async putIfAbsentWhile(condition: WrappedText, name: string, wrapped: string): Promise<string | undefined> {
    const holds = (): boolean => this.keys.get(condition.name)?.wrapped === condition.wrapped;
    await this.#answer();
    return holds() ? this.#put(name, wrapped) : undefined;
  }

  async turn(change: Rewrapped): Promise<boolean> {
    return (await this.rewrap([change])) === 1;
  }

  async page(after: string, limit: number): Promise<readonly WrappedText[]> {
    const names = [...this.keys.keys()].filter((name) => name > after).toSorted();
    return names.slice(0, limit).map((name) => ({ name, wrapped: this.keys.get(name)!.wrapped }));
  }

  async rewrap(changes: readonly Rewrapped[]): Promise<number> {
    await this.#answer();
    const found = changes.filter(({ name, from }) => this.keys.get(name)?.wrapped === from);
    for (const { name, to } of found) this.keys.set(name, { ...this.keys.get(name)!, wrapped: to });
    return found.length;
  }

  async get(name: string): Promise<string | undefined> {
    this.calls.get += 1;
    await this.#answer();
    return this.keys.get(name)?.wrapped;
  }

  async delete(name: string): Promise<void> {
    await this.#answer();
    this.keys.delete(name);
  }

  async list(prefix: string): Promise<readonly (Kept & { readonly name: string })[]> {
    this.calls.list += 1;
    await this.#answer();
    return [...this.keys]
      .filter(([name]) => name.startsWith(prefix))
      .map(([name, kept]) => ({ name, ...kept }));
  }

  /** Yields, so that callers interleave as they would with a real store. */
  async #answer(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    if (this.failure !== undefined) throw this.failure;
  }
}

/** A master key that is the same in every process of a test. */
export const masterKeyOf = (byte: number): MasterKey =>
  MasterKey.parse(Buffer.alloc(32, byte).toString('base64'))!;

/** Keys in this store, under one key that nothing rotates. */
export const sealedKeys = (store: KeyStore, key = Buffer.alloc(32, 5)): NamedKeys => ({
  putIfAbsent: async (name, text) =>
    openText(key, await store.putIfAbsent(name, sealText(key, text, name)), name),
  get: async (name) => {
    const wrapped = await store.get(name);
    return wrapped === undefined ? undefined : openText(key, wrapped, name);
  },
  unwrap: (name, wrapped) => openText(key, wrapped, name),
  delete: (name) => store.delete(name),
  list: (prefix) => store.list(prefix),
});
