import { expect, test } from '@jest/globals';
import { compareGenerations } from '../../../../application/maintenance/rebuild/compare-generations.ts';
import type { RowDifference } from '../../../../application/maintenance/rebuild/compare-generations.ts';
import type { LogPosition } from '../../../../application/ports/event-store.ts';
import { projection } from '../../../contracts/generations-world.ts';

const at = (n: number) => ({ name: 'history', version: 1, position: String(n) as LogPosition });
const difference = { table: 'published_event', stream: 'loan-app.S1', key: {}, columns: {} } as RowDifference;

test('a row that another process took further in the copy is looked at again, and not taken for a difference', async () => {
  let looks = 0;
  let place = '5';
  const differ = await compareGenerations({
    projection: projection(1),
    pair: {
      async *compare() {
        yield [difference];
      },
      // The copy was moved to 8 by another process; what serves gets there a moment later.
      compareRow: async () => {
        looks += 1;
        return looks < 3
          ? { live: at(6), copy: at(8), difference }
          : { live: at(8), copy: at(8), difference: undefined };
      },
    },
    order: { compare: (one, other) => Number(one) - Number(other) },
    follower: {
      catchUp: async () => void (place = '8'),
      lastSeen: () => undefined,
      get place() {
        return place as LogPosition;
      },
      get begun() {
        return place as LogPosition;
      },
    },
    serves: async () => true,
    signal: new AbortController().signal,
    sleep: async () => undefined,
    onDifference: () => undefined,
  });
  expect([differ, looks]).toEqual([0, 3]);
});
