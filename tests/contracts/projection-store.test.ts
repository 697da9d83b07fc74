import { describe, expect, test } from '@jest/globals';
import type { LogPosition } from '../../application/ports/event-store.ts';
import { InMemoryTables, applyWrite } from '../projections/in-memory-tables.ts';
import { projectionStoreCases } from './projection-store-contract.ts';
import { describePromises } from './promises.ts';
import type { ProjectionStoreUnderTest } from './projection-store-contract.ts';

const inMemory = (store: InMemoryTables): ProjectionStoreUnderTest => ({
  store,
  rows: async (table) => store.rows(table),
  empty: (projection) => store.empty(projection),
});

describePromises('InMemoryTables', projectionStoreCases, async () => ({
  port: inMemory(new InMemoryTables()),
  close: async () => undefined,
}));

type Apply = Parameters<InMemoryTables['apply']>;

/** Stores the rows and forgets how far it came. */
class ForgetsCheckpoint extends InMemoryTables {
  override async checkpoint(): Promise<LogPosition | 'start'> {
    return 'start';
  }
}
/** Takes every batch, whichever checkpoint it follows. */
class KnowsNoRival extends InMemoryTables {
  override async apply(...[projection, writes, , checkpoint]: Apply): Promise<boolean> {
    return super.apply(projection, writes, await this.checkpoint(projection), checkpoint);
  }
}
/** Moves the checkpoint in a step of its own, before the rows. */
class TwoSteps extends InMemoryTables {
  override async apply(...[projection, writes, expected, checkpoint]: Apply): Promise<boolean> {
    const moved = await super.apply(projection, [], expected, checkpoint);
    return moved && super.apply(projection, writes, checkpoint, checkpoint);
  }
}
/** Takes the last of several updates for all of them. */
class LastUpdateOnly extends InMemoryTables {
  override async apply(...[projection, writes, ...place]: Apply): Promise<boolean> {
    const last = writes.findLast(({ op }) => op === 'update');
    const fewer = writes.filter((write) => write.op !== 'update' || write === last);
    return super.apply(projection, fewer, ...place);
  }
}

describe('the contract of the projection store', () => {
  test.each([
    ['forgets checkpoints', ForgetsCheckpoint, 'rows of a batch and its checkpoint are there together'],
    ['knows no rival', KnowsNoRival, 'a batch that does not follow the stored checkpoint writes nothing'],
    ['drops updates', LastUpdateOnly, 'a batch comes to what its writes come to one after the other'],
    ['commits in two steps', TwoSteps, 'a write that the tables refuse leaves neither rows nor checkpoint'],
  ])('is broken by a store that %s', async (_, Broken, name) => {
    const { check } = projectionStoreCases.find((one) => one.name === name)!;
    await check(inMemory(new InMemoryTables()));
    await expect(check(inMemory(new Broken()))).rejects.toThrow();
  });

  test('the store in memory adds to columns as SQL does', () => {
    const tables = applyWrite(new Map([['loan', [{ stream: 's', received_value: 5 }]]]), {
      op: 'update',
      table: 'loan',
      where: { stream: 's' },
      set: {},
      add: { received_value: 2 },
    });
    expect(tables.get('loan')).toEqual([{ stream: 's', received_value: 7 }]);
  });
});
