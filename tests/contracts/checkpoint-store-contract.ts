import { randomUUID } from 'node:crypto';
import { expect } from '@jest/globals';
import type { CheckpointStore } from '../../application/coordination/stored-places.ts';
import type { LogPosition } from '../../application/ports/event-store.ts';
import type { Promised } from './promises.ts';

const at = (position: string): LogPosition => position as LogPosition;

export const checkpointStoreCases: readonly Promised<CheckpointStore>[] = [
  {
    name: 'a name that was never stored is at the start',
    check: async (store) => expect(await store.load(randomUUID())).toBe('start'),
  },
  {
    name: 'the last position stored is the one loaded, text for text',
    check: async (store) => {
      const name = randomUUID();
      let expected: LogPosition | 'start' = 'start';
      for (const position of ['10', '9', 'C:123/P:045', '10'].map(at)) {
        expect(await store.move(name, expected, position)).toBe(true);
        expect(await store.load(name)).toBe(position);
        expected = position;
      }
    },
  },
  {
    name: 'who is behind stores nothing',
    check: async (store) => {
      const name = randomUUID();
      expect(await store.move(name, at('1'), at('2'))).toBe(false);
      expect(await store.load(name)).toBe('start');
      await store.move(name, 'start', at('5'));
      for (const stale of ['start', at('4')] as const) {
        expect(await store.move(name, stale, at('9'))).toBe(false);
      }
      expect(await store.load(name)).toBe('5');
    },
  },
  {
    name: 'a place is moved back, and to the start, only from where it stands',
    check: async (store) => {
      const name = randomUUID();
      await store.move(name, 'start', at('5'));
      expect(await store.move(name, at('4'), 'start')).toBe(false);
      expect(await store.move(name, at('5'), at('3'))).toBe(true);
      expect(await store.move(name, at('5'), 'start')).toBe(false);
      expect(await store.load(name)).toBe('3');
      expect(await store.move(name, at('3'), 'start')).toBe(true);
      expect(await store.load(name)).toBe('start');
    },
  },
  {
    name: 'of many that move on from one position exactly one does',
    check: async (store) => {
      const name = randomUUID();
      const moves = Array.from({ length: 10 }, (_, i) => store.move(name, 'start', at(String(i))));
      expect((await Promise.all(moves)).filter(Boolean)).toHaveLength(1);
    },
  },
  {
    name: 'names do not share a position',
    check: async (store) => {
      const [relay, manager] = [randomUUID(), randomUUID()];
      await Promise.all([store.move(relay, 'start', at('1')), store.move(manager, 'start', at('2'))]);
      expect([await store.load(relay), await store.load(manager)]).toEqual(['1', '2']);
    },
  },
];
