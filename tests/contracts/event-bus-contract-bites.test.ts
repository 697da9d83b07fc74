import { describe, expect, test } from '@jest/globals';
import type { EventBus } from '../../application/ports/event-bus.ts';
import * as broken from './event-bus-broken.ts';
import { eventBusCases } from './event-bus-contract.ts';

const PATIENCE_MS = 300;

/** Of the promises whose names have this part. */
const namesOfFailures = async (open: () => EventBus, promise = ''): Promise<readonly string[]> => {
  const names = await Promise.all(
    eventBusCases
      .filter(({ name }) => name.includes(promise))
      .map(async ({ name, check }) => {
        const bus = open();
        const kept = await check(bus, PATIENCE_MS).then(
          () => true,
          () => false,
        );
        await bus.close();
        return kept ? undefined : name;
      }),
  );
  return names.filter((name) => name !== undefined);
};

/** Each flaw with a part of the name of a promise that must find it out. */
const flaws: readonly (readonly [flaw: string, bus: new () => EventBus, promise: string])[] = [
  ['takes a failed batch for handled', broken.GivesUpAtOnce, 'gets the same batch again'],
  ['lets batches overtake a failed one', broken.LetsBatchesOvertake, 'nothing later before it'],
  ['handles batches at once', broken.LetsBatchesOvertake, 'never two at once'],
  ['serves one group', broken.ServesOneGroup, 'every group'],
  ['hands batches out in reverse', broken.ReversesBatches, 'in order'],
  ['writes bodies anew', broken.RewritesBodies, 'to the character'],
  ['says of a large event what may pass', broken.HidesThatItIsTooLarge, 'refused as too large'],
  ['lets one group hold up the others', broken.ServesGroupsInTurn, 'does not keep another'],
  ['hands out empty batches', broken.HandsOutNothing, 'publishing nothing'],
  ['goes on after it was closed', broken.ClosesLater, 'nothing is handed out afterwards'],
];

describe('the event bus contract finds broken buses out', () => {
  test('a bus that does nothing keeps not a single promise', async () => {
    expect(await namesOfFailures(() => new broken.NoOpEventBus())).toEqual(
      eventBusCases.map(({ name }) => name),
    );
  });

  test.each(flaws)('a bus that %s', async (_, Bus, promise) => {
    expect(await namesOfFailures(() => new Bus(), promise)).not.toEqual([]);
  });
});
