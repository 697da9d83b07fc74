import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import type { EventToAppend, LogPosition } from '../../../../application/ports/event-store.ts';
import { StoreUnavailableError } from '../../../../application/ports/event-store.ts';
import { EventLogReader } from '../../../../infrastructure/sqlite/event-log/event-log-reader.ts';
import { EVENT_LOG_FILE } from '../../../../infrastructure/sqlite/event-log/event-log-threads.ts';
import { SqliteEventStore } from '../../../../infrastructure/sqlite/event-log/sqlite-event-store.ts';
import {
  catchUp,
  failureOf,
  idsOf,
  newClaim,
  sampleEvent,
  sampleEvents,
  within,
} from '../../../contracts/event-store-samples.ts';
import { cleanUp, openFile, openStore, WorkerWatch } from './store-fixture.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

const PATIENCE_MS = 60_000;

afterEach(cleanUp);

describe('the file of the event store', () => {
  test('everything is there after closing and opening again, and one file is left behind', async () => {
    const dataDir = join(temporaryDirectory(), 'new', 'folder');
    const events = sampleEvents(3);
    const claim = newClaim();
    const before = await openStore(dataDir);
    const result = await before.append('loan-a.1', 'no_stream', events, claim);
    const log = await catchUp(before, 'loan-', PATIENCE_MS);
    await before.close();
    expect(await readdir(dataDir)).toEqual([EVENT_LOG_FILE]);

    const after = await openStore(dataDir);
    expect(await after.append('loan-a.1', 'no_stream', events, claim)).toEqual(result);
    expect(await after.findClaim(claim)).toBe('loan-a.1');
    expect(await catchUp(after, 'loan-', PATIENCE_MS)).toEqual(log);
    expect((await after.read('loan-a.1')).events).toEqual(log);
  });

  test('a file that a newer program has written is refused with a message that says so', async () => {
    const dataDir = temporaryDirectory();
    await (await openStore(dataDir)).close();
    const db = openFile(dataDir);
    db.exec('PRAGMA user_version = 99');
    db.close();
    const failure = await failureOf(SqliteEventStore.open(dataDir));
    expect(failure).toBeInstanceOf(StoreUnavailableError);
    expect((failure as Error).message).toMatch(
      /events\.db cannot be used: has schema version 99.*start a newer program/,
    );
  });

  test('a file that is no database is refused with its name', async () => {
    const dataDir = temporaryDirectory();
    await writeFile(join(dataDir, EVENT_LOG_FILE), 'x'.repeat(5_000));
    await expect(SqliteEventStore.open(dataDir)).rejects.toThrow(
      /events\.db is damaged \(file is not a database\)/,
    );
  });

  test('stored events can neither be changed nor deleted, not even with SQL', async () => {
    const dataDir = temporaryDirectory();
    const store = await openStore(dataDir);
    await store.append('loan-a.1', 'no_stream', sampleEvents(1));
    const db = openFile(dataDir);
    expect(() => db.exec(`UPDATE events SET data = '{}'`)).toThrow('never change');
    expect(() => db.exec('DELETE FROM events')).toThrow('never deleted');
  });
});

describe('what the event store refuses', () => {
  test('an id that another stream holds, with the name of that stream; appends beside it succeed', async () => {
    const store = await openStore(temporaryDirectory());
    const [event, other] = [sampleEvent(), sampleEvent()];
    await store.append('loan-a.1', 'no_stream', [event]);
    const [refused, accepted] = await Promise.all([
      failureOf(store.append('loan-a.2', 'no_stream', [other, event], newClaim())),
      store.append('loan-a.3', 'no_stream', [other]),
    ]);
    expect((refused as Error).message).toBe(`event id ${event.id} is already stored in stream loan-a.1`);
    expect(refused).not.toBeInstanceOf(StoreUnavailableError);
    expect(accepted.revision).toBe(0n);
    expect(await store.head('loan-a.2')).toBe('no_stream');
    expect(await catchUp(store, 'loan-', PATIENCE_MS)).toHaveLength(2);
  });

  test('an append with an id twice, and one without events', async () => {
    const store = await openStore(temporaryDirectory());
    const event = sampleEvent();
    await expect(store.append('loan-a.1', 'no_stream', [event, event])).rejects.toThrow('an event id twice');
    await expect(store.append('loan-a.1', 'no_stream', [])).rejects.toThrow('holds no event');
    expect(await store.head('loan-a.1')).toBe('no_stream');
  });

  test('a subscription from a position of another store or from beyond the end of this one', async () => {
    const store = await openStore(temporaryDirectory());
    await store.append('loan-a.1', 'no_stream', sampleEvents(2));
    const from = (position: string): Promise<unknown> =>
      catchUp(store, 'loan-', PATIENCE_MS, { from: position as LogPosition });
    await expect(from('C:1/P:1')).rejects.toThrow('not a position of this event store');
    await expect(from('3')).rejects.toThrow('position 3 lies beyond the end of the event log (2)');
    expect(await from('2')).toEqual([]);
  });
});

describe('work that waits is done together', () => {
  test('appends of one turn of the event loop travel in one message', async () => {
    const watch = new WorkerWatch();
    const store = await openStore(temporaryDirectory());
    const appends = Array.from({ length: 200 }, (_, n) =>
      store.append(`loan-a.${n}`, 'no_stream', sampleEvents(1)),
    );
    expect(await Promise.all(appends)).toHaveLength(200);
    expect(watch.latest().sent).toHaveLength(1);
  });

  test('subscribers that keep up are served by reading the file once for all of them', async () => {
    const pages = jest.spyOn(EventLogReader.prototype, 'page');
    const store = await openStore(temporaryDirectory());
    const controller = new AbortController();
    const subscriptions = [1, 2, 3].map(() =>
      store.subscribe({ from: 'start', signal: controller.signal })[Symbol.asyncIterator](),
    );
    for (const subscription of subscriptions)
      expect((await subscription.next()).value).toEqual({ kind: 'caught_up' });
    const pagesBefore = pages.mock.calls.length;
    const received = subscriptions.map((): string[] => []);
    const appended: EventToAppend[] = [];
    for (let n = 0; n < 50; n++) {
      const events = sampleEvents(2);
      appended.push(...events);
      await store.append(`loan-a.${n}`, 'no_stream', events);
      for (const [index, subscription] of subscriptions.entries())
        while (received[index]!.length < appended.length) {
          const { value } = await within(subscription.next(), PATIENCE_MS, 'the live events');
          if (value?.kind === 'events') received[index]!.push(...idsOf(value.events));
        }
    }
    controller.abort();
    expect(received).toEqual(subscriptions.map(() => idsOf(appended)));
    expect(pages.mock.calls.length - pagesBefore).toBeLessThanOrEqual(50);
    pages.mockRestore();
  });

  test('a subscriber that falls far behind is served from the file, and then from memory again', async () => {
    const store = await openStore(temporaryDirectory());
    const controller = new AbortController();
    const subscription = store
      .subscribe({ from: 'start', signal: controller.signal })
      [Symbol.asyncIterator]();
    await subscription.next();
    const appended: EventToAppend[] = [];
    for (let n = 0; n < 25; n++) {
      const events = sampleEvents(400);
      appended.push(...events);
      await store.append(`loan-a.${n}`, 'no_stream', events);
    }
    const received: string[] = [];
    while (received.length < appended.length) {
      const { value } = await within(subscription.next(), PATIENCE_MS, 'the rest');
      if (value?.kind === 'events') received.push(...idsOf(value.events));
    }
    controller.abort();
    expect(received).toEqual(idsOf(appended));
  });
});
