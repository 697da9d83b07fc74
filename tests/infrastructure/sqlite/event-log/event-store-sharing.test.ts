import { afterEach, describe, expect, test } from '@jest/globals';
import { ConcurrencyError, KeyAlreadyClaimedError } from '../../../../application/ports/event-store.ts';
import type { SubscriptionMessage } from '../../../../application/ports/event-store.ts';
import type { SqliteEventStore } from '../../../../infrastructure/sqlite/event-log/sqlite-event-store.ts';
import {
  catchUp,
  eventsIn,
  follow,
  idsOf,
  isCaughtUp,
  newClaim,
  sampleEvents,
} from '../../../contracts/event-store-samples.ts';
import { cleanUp, openStore } from './store-fixture.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

const PATIENCE_MS = 10_000;

afterEach(cleanUp);

// Two stores on one file have nothing in common but the file, just like two processes.
describe('two stores on one file', () => {
  test('of writers through both exactly one wins a revision, and exactly one a key', async () => {
    const dataDir = temporaryDirectory();
    const stores = await Promise.all([openStore(dataDir), openStore(dataDir)]);
    const claim = newClaim();
    const attempts = Array.from({ length: 16 }, (_, n) => stores[n % 2] as SqliteEventStore);
    const sameStream = await Promise.allSettled(
      attempts.map((store) => store.append('loan-a.1', 'no_stream', sampleEvents(2))),
    );
    const sameKey = await Promise.allSettled(
      attempts.map((store, n) => store.append(`loan-b.${n}`, 'no_stream', sampleEvents(1), claim)),
    );
    const reasons = [sameStream, sameKey].map((outcomes) =>
      outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : [])),
    );
    expect(reasons.map(({ length }) => length)).toEqual([15, 15]);
    expect(reasons[0]?.every((reason) => reason instanceof ConcurrencyError)).toBe(true);
    expect(reasons[1]?.every((reason) => reason instanceof KeyAlreadyClaimedError)).toBe(true);
  });

  test('a subscriber soon hears of what the other has appended', async () => {
    const dataDir = temporaryDirectory();
    const [mine, other] = [await openStore(dataDir), await openStore(dataDir)];
    await mine.append('loan-a.0', 'no_stream', sampleEvents(1));
    const events = sampleEvents(3);
    let appendedAt = 0;
    let appending: Promise<unknown> | undefined;
    const append = async (): Promise<void> => {
      await other.append('loan-a.1', 'no_stream', events);
      appendedAt = performance.now();
    };
    const messages = await follow(mine, { from: 'start' }, PATIENCE_MS, (seen) => {
      if (isCaughtUp(seen)) appending ??= append();
      return eventsIn(seen, 'loan-a.1').length > 0;
    });
    await appending;
    expect(performance.now() - appendedAt).toBeLessThan(PATIENCE_MS);
    expect(idsOf(eventsIn(messages, 'loan-a.1'))).toEqual(idsOf(events));
  });

  test('while both append, subscribers of both see one and the same log', async () => {
    const dataDir = temporaryDirectory();
    const stores = [await openStore(dataDir), await openStore(dataDir)];
    const total = 2 * 4 * 20;
    const all = (messages: readonly SubscriptionMessage[]): boolean =>
      eventsIn(messages, 'loan-').length >= total;
    const writer = async (store: SqliteEventStore, stream: string): Promise<void> => {
      for (let n = 0; n < 20; n++)
        await store.append(stream, n === 0 ? 'no_stream' : BigInt(n - 1), sampleEvents(1));
    };
    const [first, second] = await Promise.all([
      ...stores.map((store) => follow(store, { from: 'start' }, PATIENCE_MS, all)),
      ...stores.flatMap((store, s) => [0, 1, 2, 3].map((n) => writer(store, `loan-${s}.${n}`))),
    ]);
    const log = eventsIn(first ?? [], 'loan-');
    expect(new Set(idsOf(log)).size).toBe(total);
    expect(eventsIn(second ?? [], 'loan-')).toEqual(log);
    expect(await catchUp(stores[0] as SqliteEventStore, 'loan-', PATIENCE_MS)).toEqual(log);
  });

  test('both may create the file at the same time', async () => {
    const dataDir = temporaryDirectory();
    const stores = await Promise.all([1, 2, 3, 4].map(() => openStore(dataDir)));
    await Promise.all(stores.map((store, n) => store.append(`loan-a.${n}`, 'no_stream', sampleEvents(1))));
    expect(await catchUp(stores[0] as SqliteEventStore, 'loan-', PATIENCE_MS)).toHaveLength(4);
  });
});
