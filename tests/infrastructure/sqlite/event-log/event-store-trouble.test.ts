import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import {
  DamagedStoreError,
  OutcomeUnknownError,
  StoreUnavailableError,
} from '../../../../application/ports/event-store.ts';
import {
  catchUp,
  failureOf,
  follow,
  idsOf,
  newClaim,
  sampleEvent,
  sampleEvents,
  within,
} from '../../../contracts/event-store-samples.ts';
import { cleanUp, holdWriteLock, openFile, openStore, WorkerWatch } from './store-fixture.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

const PATIENCE_MS = 60_000;

afterEach(cleanUp);

/** Retries as a command handler does, with the same ids at the same revision. */
const retried = async <Result>(attempt: () => Promise<Result>): Promise<Result> => {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await delay(10);
    }
  }
};

describe('a disk in trouble', () => {
  test('a full disk stores nothing of what waits, says so, and the store goes on when there is room', async () => {
    const dataDir = temporaryDirectory();
    const store = await openStore(dataDir, { maxPageCount: 80 });
    await store.append('loan-a.1', 'no_stream', sampleEvents(1));
    const ballast = openFile(dataDir);
    const pages = Number(ballast.prepare('PRAGMA page_count').get()?.['page_count']);
    ballast.exec(`CREATE TABLE ballast (x); INSERT INTO ballast VALUES (zeroblob(${(78 - pages) * 4_090}))`);
    const claim = newClaim();
    const large = sampleEvent(`{"note":"${'n'.repeat(60_000)}"}`);
    const failures = await Promise.all([
      failureOf(store.append('loan-a.1', 0n, [large], claim)),
      failureOf(store.append('loan-a.2', 'no_stream', [sampleEvent()])),
    ]);
    for (const failure of failures) {
      expect(failure).toBeInstanceOf(StoreUnavailableError);
      expect((failure as Error).message).toMatch(/events\.db cannot be used: .*full; make room$/);
    }
    expect([await store.head('loan-a.1'), await store.head('loan-a.2')]).toEqual([0n, 'no_stream']);
    expect(await store.findClaim(claim)).toBeUndefined();
    ballast.exec('DROP TABLE ballast');
    expect((await store.append('loan-a.1', 0n, [large], claim)).revision).toBe(1n);
    expect(await catchUp(store, 'loan-', PATIENCE_MS)).toHaveLength(2);
  });

  test.each(['position', 'revision'])(
    'a %s that no program of ours stores is damage, of which whoever follows the log hears at once',
    async (column) => {
      const dataDir = temporaryDirectory();
      const store = await openStore(dataDir);
      await store.append('loan-a.1', 'no_stream', sampleEvents(2));
      const file = openFile(dataDir);
      file.exec('DROP TRIGGER events_never_change');
      file.exec(`UPDATE events SET ${column} = ${2n ** 53n} WHERE revision = 1`);
      const failure = await failureOf(catchUp(store, 'loan-', PATIENCE_MS));
      expect(failure).toBeInstanceOf(DamagedStoreError);
      expect((failure as Error).message).toMatch(
        /events\.db is damaged \(.*9007199254740992\), after position \d/,
      );
    },
  );

  test('while the disk does not answer, the event loop turns and reads are answered', async () => {
    const dataDir = temporaryDirectory();
    const store = await openStore(dataDir);
    await store.append('loan-a.1', 'no_stream', sampleEvents(1));
    const release = holdWriteLock(dataDir);
    const append = store.append('loan-a.2', 'no_stream', sampleEvents(1));
    for (let turns = 0; turns < 20; turns++) {
      expect(await store.head('loan-a.1')).toBe(0n);
      await delay(1);
    }
    expect(await store.head('loan-a.2')).toBe('no_stream');
    release();
    expect((await append).revision).toBe(0n);
  });

  test('a lock that is held for too long fails the append without storing it', async () => {
    const dataDir = temporaryDirectory();
    const store = await openStore(dataDir, { busyTimeoutMs: 50 });
    const release = holdWriteLock(dataDir);
    const failure = await failureOf(store.append('loan-a.1', 'no_stream', sampleEvents(1)));
    expect(failure).toBeInstanceOf(StoreUnavailableError);
    expect((failure as Error).message).toMatch(/events\.db cannot be used: .*locked; .*end it$/);
    release();
    expect(await store.head('loan-a.1')).toBe('no_stream');
  });

  test('when far too much waits, more is refused at once, and what waits is stored in the end', async () => {
    const dataDir = temporaryDirectory();
    const store = await openStore(dataDir);
    const release = holdWriteLock(dataDir);
    const outcomes = Array.from({ length: 10_004 }, (_, n) =>
      failureOf(store.append(`loan-a.${n}`, 'no_stream', sampleEvents(1))),
    );
    const refused = await within(Promise.all(outcomes.slice(10_000)), PATIENCE_MS, 'the refusals');
    for (const failure of refused) {
      expect(failure).toBeInstanceOf(StoreUnavailableError);
      expect((failure as Error).message).toMatch(/overloaded/);
    }
    release();
    const stored = await Promise.all(outcomes.slice(0, 10_000));
    expect(stored).toEqual(Array(10_000).fill(undefined));
    expect(await catchUp(store, 'loan-', PATIENCE_MS)).toHaveLength(10_000);
  });
});

describe('a thread that dies', () => {
  test('after the commit but before the answer: the outcome is unknown, and a retry finds the first result', async () => {
    const watch = new WorkerWatch();
    const store = await openStore(temporaryDirectory());
    const controller = new AbortController();
    const following = follow(store, { from: 'start' }, PATIENCE_MS, (messages) =>
      messages.some(({ kind }) => kind === 'events'),
    );
    await store.head('loan-a.1');
    watch.latest().dieBeforeAnswer = true;
    const events = sampleEvents(2);
    const claim = newClaim();
    const append = () => store.append('loan-a.1', 'no_stream', events, claim);
    expect(await failureOf(append())).toBeInstanceOf(OutcomeUnknownError);
    const result = await retried(append);
    expect(result.revision).toBe(1n);
    expect(idsOf((await store.read('loan-a.1')).events)).toEqual(idsOf(events));
    const messages = await following;
    expect(messages.flatMap((m) => (m.kind === 'events' ? idsOf(m.events) : []))).toEqual(idsOf(events));
    expect(watch.workers).toHaveLength(2);
    controller.abort();
  });

  test('before the commit: what was under way is unknown, what still waited is stored by the next thread', async () => {
    const dataDir = temporaryDirectory();
    const watch = new WorkerWatch();
    // Longer than anything that may hold this test up.
    const store = await openStore(dataDir, { busyTimeoutMs: 60_000 });
    const release = holdWriteLock(dataDir);
    const events = sampleEvents(1);
    const underWay = [];
    // As many messages as a thread is sent ahead; what comes after them waits here.
    for (let n = 1; n <= 4; n++) {
      const begun = n === 1 ? events : sampleEvents(1);
      underWay.push(failureOf(store.append(`loan-a.${n}`, 'no_stream', begun)));
      while (watch.latest().sent.length < n) await delay(1);
    }
    const waiting = store.append('loan-a.5', 'no_stream', sampleEvents(1));
    await delay(5);
    const dead = watch.latest().terminate();
    // It dies when it comes back from waiting for the lock, before it stores anything.
    release();
    for (const failure of await Promise.all(underWay)) expect(failure).toBeInstanceOf(OutcomeUnknownError);
    await dead;
    expect((await waiting).revision).toBe(0n);
    expect(await store.head('loan-a.1')).toBe('no_stream');
    expect((await store.append('loan-a.1', 'no_stream', events)).revision).toBe(0n);
  });

  test('and cannot be started again for a while: appends are refused until it can', async () => {
    const watch = new WorkerWatch();
    const store = await openStore(temporaryDirectory());
    watch.refuse = true;
    await watch.latest().terminate();
    expect(await failureOf(store.append('loan-a.1', 'no_stream', sampleEvents(1)))).toBeInstanceOf(
      StoreUnavailableError,
    );
    watch.refuse = false;
    const events = sampleEvents(1);
    expect((await retried(() => store.append('loan-a.1', 'no_stream', events))).revision).toBe(0n);
  });
});

describe('closing the store', () => {
  test('finishes the appends that wait and refuses later ones', async () => {
    const dataDir = temporaryDirectory();
    const store = await openStore(dataDir);
    const appends = Array.from({ length: 20 }, (_, n) =>
      store.append(`loan-a.${n}`, 'no_stream', sampleEvents(1)),
    );
    await Promise.all([store.close(), store.close()]);
    expect(await Promise.all(appends)).toHaveLength(20);
    for (const act of [
      () => store.append('loan-a.99', 'no_stream', sampleEvents(1)),
      () => store.head('loan-a.1'),
    ])
      expect(await failureOf(act())).toBeInstanceOf(StoreUnavailableError);
  });

  test('ends the subscriptions', async () => {
    const store = await openStore(temporaryDirectory());
    const kinds: string[] = [];
    const caughtUp = Promise.withResolvers<void>();
    const ended = (async () => {
      for await (const { kind } of store.subscribe({ from: 'start', signal: new AbortController().signal })) {
        kinds.push(kind);
        caughtUp.resolve();
      }
    })();
    await caughtUp.promise;
    await store.close();
    await within(ended, PATIENCE_MS, 'the end of the subscription');
    expect(kinds).toEqual(['caught_up']);
  });

  test('does not wait for a disk that never answers', async () => {
    const dataDir = temporaryDirectory();
    const store = await openStore(dataDir, { closeGraceMs: 100, busyTimeoutMs: 3 * PATIENCE_MS });
    const release = holdWriteLock(dataDir);
    const append = failureOf(store.append('loan-a.1', 'no_stream', sampleEvents(1)));
    await delay(1);
    await within(store.close(), PATIENCE_MS, 'closing');
    expect(await append).toBeInstanceOf(OutcomeUnknownError);
    release();
  });
});
