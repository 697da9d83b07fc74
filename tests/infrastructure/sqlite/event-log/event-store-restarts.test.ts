import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, expect, test } from '@jest/globals';
import { OutcomeUnknownError, StoreUnavailableError } from '../../../../application/ports/event-store.ts';
import type { StreamRevision, SubscriptionMessage } from '../../../../application/ports/event-store.ts';
import type { SqliteEventStore } from '../../../../infrastructure/sqlite/event-log/sqlite-event-store.ts';
import { catchUp, eventsIn, follow, idsOf, sampleEvents } from '../../../contracts/event-store-samples.ts';
import { cleanUp, openStore, WorkerWatch } from './store-fixture.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

const PATIENCE_MS = 60_000;
const APPENDS = 12;
const EVENTS = 2 * 4 * APPENDS * 2;

afterEach(cleanUp);

const appendPatiently = async (
  store: SqliteEventStore,
  stream: string,
  expected: StreamRevision,
): Promise<bigint> => {
  const events = sampleEvents(2);
  for (;;) {
    try {
      return (await store.append(stream, expected, events)).revision;
    } catch (error) {
      if (!(error instanceof OutcomeUnknownError || error instanceof StoreUnavailableError)) throw error;
      await delay(5);
    }
  }
};

const write = async (store: SqliteEventStore, stream: string): Promise<void> => {
  let expected: StreamRevision = 'no_stream';
  for (let n = 0; n < APPENDS; n++) {
    expected = await appendPatiently(store, stream, expected);
    await delay(Math.random() * 20);
  }
};

test('while threads of two stores keep dying, nothing is lost, doubled or handed out in another order', async () => {
  const dataDir = temporaryDirectory();
  const watch = new WorkerWatch();
  const stores = [await openStore(dataDir), await openStore(dataDir)];
  const done = (messages: readonly SubscriptionMessage[]): boolean =>
    eventsIn(messages, 'loan-').length >= EVENTS;
  const followers = stores.flatMap((store) => [
    follow(store, { from: 'start' }, PATIENCE_MS, done),
    follow(store, { from: 'start', batchSize: 3, streamPrefix: 'loan-' }, PATIENCE_MS, done),
  ]);
  const writers = Promise.all(
    stores.flatMap((store, s) => [0, 1, 2, 3].map((n) => write(store, `loan-${s}.${n}`))),
  );
  for (let kill = 0; kill < 10; kill++) {
    await delay(30);
    const alive = watch.workers.filter(({ threadId }) => threadId > 0);
    const worker = alive[Math.floor(Math.random() * alive.length)];
    if (worker && kill % 2 === 0) await worker.terminate();
    else if (worker) worker.dieBeforeAnswer = true;
  }
  await writers;

  const log = await catchUp(stores[0] as SqliteEventStore, 'loan-', PATIENCE_MS);
  expect(log).toHaveLength(EVENTS);
  expect(new Set(idsOf(log)).size).toBe(EVENTS);
  for (const messages of await Promise.all(followers)) expect(eventsIn(messages, 'loan-')).toEqual(log);
});
