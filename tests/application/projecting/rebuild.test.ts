import { describe, expect, test } from '@jest/globals';
import type { LogPosition } from '../../../application/ports/event-store.ts';
import type { Projection, TableWrite } from '../../../projections/projection.ts';
import { InMemoryTables } from '../../projections/in-memory-tables.ts';
import { crashCases } from './crash-cases.ts';

const fixtureOf = (store: InMemoryTables) => ({
  store,
  rows: async (table: string) => store.rows(table),
  empty: (projection: Projection) => store.empty(projection),
});

describe('rows in memory are the same', () => {
  test.each(crashCases)('with $name', ({ check }) => check(fixtureOf(new InMemoryTables())));
});

/** Stores rows and checkpoint in two steps, and takes any batch. */
class AtLeastOnce extends InMemoryTables {
  override async apply(
    projection: Projection,
    writes: readonly TableWrite[],
    expected: LogPosition | 'start',
    checkpoint: LogPosition,
  ): Promise<boolean> {
    const additions = writes.filter((write) => write.op === 'update' && write.add);
    await super.apply(
      projection,
      additions,
      expected,
      expected === 'start' ? ('0/0' as LogPosition) : expected,
    );
    return super.apply(
      projection,
      writes,
      expected === 'start' ? ('0/0' as LogPosition) : expected,
      checkpoint,
    );
  }
}

test('the cases notice a store that counts a batch twice', async () => {
  const check = crashCases[0]!.check;
  await expect(check(fixtureOf(new AtLeastOnce()))).rejects.toThrow();
});
