import { expect } from '@jest/globals';
import { RebuildRefusedError } from '../../application/maintenance/rebuild/rebuild-read-models.ts';
import { TABLE, at, expected, projection, write } from './generations-world.ts';
import type { GenerationsCase } from './generations-world.ts';

/** What a rebuild finds when it compares. */
export const comparing: readonly GenerationsCase[] = [
  {
    name: 'rows that differ are reported, keep the switch back, and are taken over by force',
    check: async (world) => {
      await world.begin(5);
      expect(await world.rebuild('approved')).toMatchObject({ outcome: 'differs', differences: 5 });
      expect(world.differences[0]).toMatchObject({
        table: TABLE,
        columns: { event_id: { live: 'received', copy: 'approved' } },
      });
      expect(await world.rows()).toEqual(expected(5, 'received'));
      const forced = { outcome: 'switched', resumed: true };
      expect(await world.rebuild('approved', { force: true })).toMatchObject(forced);
      expect(await world.rows()).toEqual(expected(5, 'approved'));
    },
  },
  {
    name: 'rows that only one of both has are reported as such',
    check: async (world) => {
      await world.begin(3);
      const live = await world.generations().open(1);
      const place = await live.store.checkpoint(projection(1));
      await live.store.apply(projection(1), [write(99, 'stray')], place, at(3));
      await live.database.close();
      expect(await world.rebuild('received')).toMatchObject({ outcome: 'differs', differences: 1 });
      expect(world.differences[0]).toMatchObject({ key: { revision: 99 }, only: 'live' });
      expect(await world.generations().dropOld()).toEqual([2]);
    },
  },
  {
    name: 'what stands still is waited for once, and not for each of its rows',
    check: async (world) => {
      await world.begin(3);
      world.append(6);
      expect(await world.rebuild('received')).toMatchObject({ outcome: 'differs', differences: 6 });
      expect(world.slept).toBe(200);
      await world.serve();
      expect(await world.rebuild('received')).toMatchObject({ outcome: 'switched', resumed: true });
    },
  },
  {
    name: 'what another rebuild lets serve meanwhile has no differences from what is written into no more',
    check: async (world) => {
      await world.begin(5);
      let turns = 0;
      const after = async (): Promise<void> => {
        if ((turns += 1) > 1) return;
        expect(await world.rebuild('received')).toMatchObject({ outcome: 'switched' });
        world.append(2);
        await world.serve();
      };
      const first = { outcome: 'switched', differences: 0 };
      expect(await world.rebuild('received', { after })).toMatchObject(first);
      expect(world.differences).toEqual([]);
      expect(await world.rows()).toEqual(expected(7, 'received'));
    },
  },
  {
    name: 'a log that goes on during the rebuild is no difference',
    check: async (world) => {
      await world.begin(9);
      let turns = 0;
      const after = async (): Promise<void> => {
        if ((turns += 1) > 6) return;
        world.append(4);
        if (turns % 2 === 0) await world.serve();
      };
      const rebuilt = world.rebuild('received', { after });
      const projector = (async () => {
        for (let n = 0; n < 40; n++) await world.serve();
      })();
      expect(await rebuilt).toMatchObject({ outcome: 'switched', differences: 0 });
      await projector;
      await world.serve();
      expect(await world.rows()).toEqual(expected(9 + 6 * 4, 'received'));
    },
  },
  {
    name: 'a reader finds every row at every moment, however often generations succeed each other',
    check: async (world) => {
      await world.begin(20);
      let done = false;
      const counts = new Set<number>();
      const reading = (async () => {
        while (!done) counts.add((await world.rows()).length);
      })();
      for (let turn = 0; turn < 4; turn++) {
        expect(await world.rebuild('received')).toMatchObject({ outcome: 'switched' });
        await world.generations().dropOld();
      }
      done = true;
      await reading;
      expect([...counts]).toEqual([20]);
    },
  },
  {
    name: 'a generation of the next version waits until a program of that version starts, and serves from then on',
    check: async (world) => {
      await world.begin(3);
      expect(await world.rebuild('approved', { version: 2 })).toMatchObject({ outcome: 'ready' });
      expect(await world.rows()).toEqual(expected(3, 'received'));
      expect(await world.upToDate(2)).toBe(false);
      const started = await world.rebuild('approved', { version: 2, force: true });
      expect(started).toMatchObject({ outcome: 'switched', resumed: true, events: 0 });
      expect(await world.rows(await world.opened())).toEqual(expected(3, 'approved'));
      await expect(world.rebuild('received')).rejects.toThrow(RebuildRefusedError);
    },
  },
];
