import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import { EventStoreDbStore } from '../../../infrastructure/eventstoredb/event-store-db-store.ts';
import type { StandInCluster as Cluster } from '../../support/eventstoredb/cluster.ts';
import { StandInCluster } from '../../support/eventstoredb/cluster.ts';
import { idsOf, newClaim, newPrefix, sampleEvents } from '../../contracts/event-store-samples.ts';
import { until } from '../../support/within.ts';

const CALLERS = 36;
/** As long as a real cluster takes to elect another leader. */
const ELECTION_MS = 6_000;
/** What a caller may wait beyond that: no more than it would have waited for a failure. */
const AFTERWARDS_MS = 8_000;

interface Told {
  readonly stored: string[];
  readonly failed: string[];
  longestMs: number;
}

/** Callers that append with a key, one after another, each to a stream of its own, until told to stop. */
const callers = (store: EventStoreDbStore, prefix: string, stopped: () => boolean) => {
  const told: Told = { stored: [], failed: [], longestMs: 0 };
  const work = Array.from({ length: CALLERS }, async (_, caller) => {
    const scope = newClaim();
    let revision: bigint | 'no_stream' = 'no_stream';
    for (let n = 0; !stopped(); n++) {
      const events = sampleEvents(1);
      const begun = performance.now();
      try {
        const claim = { ...scope, key: `key-${n}` };
        revision = (await store.append(`${prefix}${caller}`, revision, events, claim)).revision;
        told.stored.push(...idsOf(events));
      } catch (error) {
        told.failed.push(String(error));
        revision = await store.head(`${prefix}${caller}`);
      }
      told.longestMs = Math.max(told.longestMs, performance.now() - begun);
      await delay(10);
    }
  });
  return { told, work };
};

/** Everything that the log shows, as somebody sees it who follows through all of it. */
const follower = (store: EventStoreDbStore) => {
  const following = new AbortController();
  const seen: string[] = [];
  const ended = (async () => {
    for await (const message of store.subscribe({ from: 'start', signal: following.signal }))
      if (message.kind === 'events') seen.push(...idsOf(message.events));
  })();
  return { seen, stop: () => (following.abort(), ended) };
};

const unheard: unknown[] = [];
const hear = (reason: unknown): void => void unheard.push(reason);
process.on('unhandledRejection', hear);
afterEach(() => expect(unheard).toEqual([]));

describe(`a change of leader under ${CALLERS} callers`, () => {
  test.each<readonly [string, (cluster: Cluster, leader: number) => Promise<void> | void]>([
    ['killed', (cluster, leader) => cluster.kill(leader)],
    ['stopped in order', (cluster, leader) => cluster.stop(leader)],
    ['frozen', (cluster, leader) => cluster.freeze(leader)],
  ])(
    'that is %s is no error for any of them, loses nothing and doubles nothing',
    async (_, fail) => {
      const cluster = await StandInCluster.start({ electionMs: ELECTION_MS });
      const store = new EventStoreDbStore({ url: cluster.url });
      const prefix = newPrefix();
      let stopping = false;
      const { told, work } = callers(store, prefix, () => stopping);
      const following = follower(store);
      await until(() => told.stored.length > 3 * CALLERS, 'the callers to be at work');
      const before = cluster.leader!;
      const failing = fail(cluster, before);
      await until(() => cluster.leader !== undefined && cluster.leader !== before, 'another leader', 60_000);
      const elected = told.stored.length;
      await until(() => told.stored.length > elected + 3 * CALLERS, 'the callers to be at work again');
      stopping = true;
      await Promise.all([...work, failing]);
      const stored = cluster.log.events.filter(({ stream }) => stream.startsWith(prefix)).map(({ id }) => id);
      await until(() => following.seen.length >= stored.length, 'the follower to see everything', 60_000);
      await following.stop();
      await store.close();
      await cluster.close();
      expect(told.failed).toEqual([]);
      expect(told.longestMs).toBeLessThan(ELECTION_MS + AFTERWARDS_MS);
      expect(new Set(stored).size).toBe(stored.length);
      expect([...told.stored].sort()).toEqual([...stored].sort());
      expect(following.seen).toEqual(stored);
    },
    240_000,
  );
});

test('nodes that are killed again and again, all of them at times, end no process', async () => {
  const cluster = await StandInCluster.start({ electionMs: 100 });
  const store = new EventStoreDbStore({
    url: cluster.url,
    patienceMs: 1_000,
    readTimeoutMs: 1_000,
  });
  const prefix = newPrefix();
  let stopping = false;
  const { told, work } = callers(store, prefix, () => stopping);
  for (const work_ of work) work_.catch(() => undefined);
  const following = follower(store);
  for (let round = 0; round < 8; round++) {
    await delay(100);
    const killed = round % 4 === 3 ? [0, 1, 2] : [cluster.leader ?? round % 3];
    await Promise.all(killed.map((index) => cluster.kill(index)));
    await delay(round % 4 === 3 ? 1_500 : 300);
    for (const index of killed) await cluster.restart(index);
    await until(() => cluster.leader !== undefined, 'a leader', 60_000);
  }
  stopping = true;
  await Promise.allSettled(work);
  const stored = cluster.log.events.filter(({ stream }) => stream.startsWith(prefix)).map(({ id }) => id);
  await until(() => following.seen.length >= stored.length, 'the follower to see everything', 90_000);
  await following.stop();
  await store.close();
  await cluster.close();
  expect(told.stored.filter((id) => !stored.includes(id))).toEqual([]);
  expect(new Set(stored).size).toBe(stored.length);
  expect(following.seen).toEqual(stored);
}, 240_000);
