import type { KeyStore } from '../../application/ports/key-store.ts';
import { MasterKey } from '../../infrastructure/security/master-key.ts';
import { AesGcmSealer } from '../../infrastructure/security/aes-gcm-sealer.ts';
import type { NamedKeys } from '../../infrastructure/security/wrapped-keys.ts';

/** A master key that is the same in every process of a test. */
export const masterKeyOf = (byte: number): MasterKey =>
  MasterKey.parse(Buffer.alloc(32, byte).toString('base64'))!;

/** Keys in this store, under one key that nothing rotates. */
export const sealedKeys = (store: KeyStore, key = Buffer.alloc(32, 5)): NamedKeys => {
  const sealer = new AesGcmSealer(key);
  return {
    putIfAbsent: async (name, text) =>
      sealer.open(await store.putIfAbsent(name, sealer.seal(text, name)), name),
    get: async (name) => {
      const wrapped = await store.get(name);
      return wrapped === undefined ? undefined : sealer.open(wrapped, name);
    },
    unwrap: (name, wrapped) => sealer.open(wrapped, name),
    delete: (name) => store.delete(name),
    list: (prefix) => store.list(prefix),
  };
};
