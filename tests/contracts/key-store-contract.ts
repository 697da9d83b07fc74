import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { KeyStore } from '../../application/ports/key-store.ts';

/** A promise of the port. It holds beside other tests' keys: it uses names of its own only. */
export interface KeyStoreCase {
  readonly name: string;
  readonly check: (store: KeyStore) => Promise<void>;
}

export const keyStoreCases: readonly KeyStoreCase[] = [
  {
    name: 'a key that was never put is not there',
    check: async (store) => {
      expect(await store.get(randomUUID())).toBeUndefined();
      expect(await store.list(`${randomUUID()}/`)).toEqual([]);
      await expect(store.delete(randomUUID())).resolves.toBeUndefined();
    },
  },
  {
    name: 'the first to put a key decides, and everybody gets its key',
    check: async (store) => {
      const name = randomUUID();
      expect(await store.putIfAbsent(name, 'first')).toBe('first');
      expect(await store.putIfAbsent(name, 'second')).toBe('first');
      expect(await store.get(name)).toBe('first');
    },
  },
  {
    name: 'of many that put a key at once, one decides',
    check: async (store) => {
      const name = randomUUID();
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, i) => store.putIfAbsent(name, `key-${i}`)),
      );
      expect(new Set(answers)).toEqual(new Set([await store.get(name)]));
    },
  },
  {
    name: 'a deleted key is gone, and its name is free again',
    check: async (store) => {
      const name = randomUUID();
      await store.putIfAbsent(name, 'old');
      await store.delete(name);
      expect(await store.get(name)).toBeUndefined();
      expect(await store.putIfAbsent(name, 'new')).toBe('new');
    },
  },
  {
    name: 'the list of a prefix holds all keys whose name starts so, and no other',
    check: async (store) => {
      const prefix = `${randomUUID()}/`;
      const names = ['', 'a', 'b/c', '\u{1F511}', '~', 'é'].map((rest) => prefix + rest);
      for (const name of [...names, prefix.slice(0, -1), `${prefix.slice(0, -1)}0`, `x${prefix}`]) {
        await store.putIfAbsent(name, `wrapped ${name}`);
      }
      const listed = await store.list(prefix);
      expect(listed.map(({ name }) => name).toSorted()).toEqual(names.toSorted());
      for (const { name, wrapped, createdAt } of listed) {
        expect(wrapped).toBe(`wrapped ${name}`);
        expect(createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      }
    },
  },
];

export const describeKeyStoreContract = (
  adapter: string,
  open: () => Promise<{ readonly store: KeyStore; close(): Promise<void> }>,
): void => {
  describe(`${adapter} keeps the promises of the key store`, () => {
    let fixture: Awaited<ReturnType<typeof open>>;
    beforeAll(async () => {
      fixture = await open();
    });
    afterAll(() => fixture.close());
    test.each(keyStoreCases)('$name', ({ check }) => check(fixture.store));
  });
};
