import { expect, test } from '@jest/globals';
import type {
  LogPosition,
  RecordedEvent,
  SubscribeOptions,
  SubscriptionMessage,
} from '../../../../application/ports/event-store.ts';
import type { LogOrder } from '../../../../application/ports/read-models.ts';
import type { ProjectionStore } from '../../../../application/projecting/projection-store.ts';
import {
  ReadModelCopy,
  catchUpTogether,
} from '../../../../application/maintenance/rebuild/read-model-copy.ts';
import type { ProjectedEvent, Projection } from '../../../../projections/projection.ts';

const numberOf = (position: string): number => (position === 'start' ? 0 : Number(position));
const order: LogOrder = {
  comparable: () => true,
  compare: (one, other) => numberOf(one) - numberOf(other),
  share: (done, whole) => numberOf(done) / numberOf(whole),
};

const events = Array.from(
  { length: 7 },
  (_, i) => ({ stream: 's', position: String(i + 1) }) as unknown as RecordedEvent,
);

/** A log in batches of three, which remembers from where it was read. */
const logOf = () => {
  const begun: string[] = [];
  async function* subscribe({ from }: SubscribeOptions): AsyncGenerator<SubscriptionMessage> {
    begun.push(from);
    for (let at = numberOf(from); at < events.length; at += 3) {
      const batch = events.slice(at, at + 3);
      yield { kind: 'events', events: batch, checkpoint: batch.at(-1)!.position };
    }
    yield { kind: 'caught_up' };
  }
  return { log: { subscribe }, begun };
};

class Store implements ProjectionStore {
  place: LogPosition | 'start';
  readonly applied: string[] = [];
  /** What another process stores just before the next write. */
  overtakenBy: LogPosition | undefined;

  constructor(place: string) {
    this.place = place as LogPosition;
  }
  checkpoint = async (): Promise<LogPosition | 'start'> => this.place;
  quarantined = async () => [];
  reset = async (): Promise<void> => undefined;
  apply: ProjectionStore['apply'] = async (_, writes, expected, checkpoint) => {
    if (this.overtakenBy !== undefined) [this.place, this.overtakenBy] = [this.overtakenBy, undefined];
    if (this.place !== expected) return false;
    this.applied.push(...writes.map(({ table }) => table));
    this.place = checkpoint;
    return true;
  };
}

const caughtUp = async (stores: readonly Store[]): Promise<readonly string[]> => {
  const { log, begun } = logOf();
  const shared = { log, order, breathe: async () => undefined };
  const followers = stores.map(
    (store) =>
      new ReadModelCopy({
        ...shared,
        store,
        projection: {
          project: ({ id }) => [{ op: 'delete', table: id, where: { stream: 's' } }],
        } as Pick<Projection, 'project'> as Projection,
        decode: ({ position }) => ({ id: position }) as unknown as ProjectedEvent,
        onProgress: () => undefined,
      }),
  );
  await catchUpTogether(followers, shared, new AbortController().signal);
  return begun;
};

test('several followers read the log once, and each takes in what it has not got', async () => {
  const stores = [new Store('start'), new Store('5'), new Store('2')];
  expect(await caughtUp(stores)).toEqual(['start']);
  expect(stores.map(({ applied }) => applied.join())).toEqual(['1,2,3,4,5,6,7', '6,7', '3,4,5,6,7']);
  expect(stores.map(({ place }) => place)).toEqual(['7', '7', '7']);
});

test('where another process fills the same generation, they go on from where it is', async () => {
  const stores = [new Store('start'), new Store('start')];
  stores[1]!.overtakenBy = '4' as LogPosition;
  expect(await caughtUp(stores)).toEqual(['start', '3']);
  expect(stores[1]!.applied).toEqual(['5', '6', '7']);
  expect(stores.map(({ place }) => place)).toEqual(['7', '7']);
});
