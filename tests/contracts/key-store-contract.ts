import { randomUUID } from 'node:crypto';
import { expect } from '@jest/globals';
import type { KeyStore } from '../../application/coordination/key-store.ts';
import type { Promised } from './promises.ts';

export const keyStoreCases: readonly Promised<KeyStore>[] = [
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
  {
    name: 'what is put under a condition is stored while it holds, and not after',
    check: async (store) => {
      const [condition, kept, late] = [randomUUID(), randomUUID(), randomUUID()];
      await store.putIfAbsent(condition, 'old');
      const holds = { name: condition, wrapped: 'old' };
      expect(await store.putIfAbsentWhile(holds, kept, 'first')).toBe('first');
      expect(await store.putIfAbsentWhile(holds, kept, 'second')).toBe('first');
      expect(await store.turn({ name: condition, from: 'older', to: 'new' })).toBe(false);
      expect(await store.turn({ name: condition, from: 'old', to: 'new' })).toBe(true);
      expect(await store.putIfAbsentWhile(holds, late, 'late')).toBeUndefined();
      expect(await store.putIfAbsentWhile(holds, kept, 'late')).toBeUndefined();
      expect([await store.get(late), await store.get(kept)]).toEqual([undefined, 'first']);
      expect(await store.putIfAbsentWhile({ name: randomUUID(), wrapped: '' }, late, 'x')).toBeUndefined();
    },
  },
  {
    name: 'nothing that was put under a condition appears after it was turned over',
    check: async (store) => {
      const [condition, prefix] = [randomUUID(), `${randomUUID()}/`];
      await store.putIfAbsent(condition, 'old');
      const puts = Array.from({ length: 40 }, (_, i) =>
        store.putIfAbsentWhile({ name: condition, wrapped: 'old' }, `${prefix}${i}`, 'by the old one'),
      );
      await store.turn({ name: condition, from: 'old', to: 'new' });
      const seen = (await store.list(prefix)).length;
      await Promise.all(puts);
      expect((await store.list(prefix)).length).toBe(seen);
    },
  },
  {
    name: 'a text is wrapped anew only where it still reads as it was read, and a deleted one stays deleted',
    check: async (store) => {
      const names = ['a', 'b', 'c'].map((rest) => `${randomUUID()}/${rest}`) as [string, string, string];
      for (const name of names) await store.putIfAbsent(name, 'old');
      await store.delete(names[1]);
      const changes = names.map((name) => ({ name, from: 'old', to: 'new' }));
      expect(await store.rewrap(changes)).toBe(2);
      expect(await store.rewrap(changes)).toBe(0);
      expect(await Promise.all(names.map((name) => store.get(name)))).toEqual(['new', undefined, 'new']);
    },
  },
  {
    name: 'pages go through all texts in the order of their names',
    check: async (store) => {
      const prefix = randomUUID();
      const names = ['a', 'b', 'c', 'd', 'e'].map((rest) => `${prefix}${rest}`);
      for (const name of names.toReversed()) await store.putIfAbsent(name, `of ${name}`);
      const first = await store.page(prefix, 2);
      expect(first).toEqual(names.slice(0, 2).map((name) => ({ name, wrapped: `of ${name}` })));
      const next = await store.page(names[1]!, 3);
      expect(next.map(({ name }) => name)).toEqual(names.slice(2));
    },
  },
];
