import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { ConcurrencyError, KeyAlreadyClaimedError } from '../../../application/ports/event-store.ts';
import type { KeyClaim, StreamRevision } from '../../../application/ports/event-store.ts';
import { retryAppend, retryUntilAvailable } from '../../../application/support/retry.ts';
import { EventStoreDbStore } from '../../../infrastructure/eventstoredb/event-store-db-store.ts';
import { idsOf, newClaim, newPrefix, sampleEvents } from '../../contracts/event-store-samples.ts';
import { StandInProcess } from '../../support/eventstoredb/stand-in-process.ts';
import { until } from '../../support/within.ts';

const KILLS = 10;
const WRITERS = 8;
const KEYS = 40;

interface Told {
  readonly key: KeyClaim;
  readonly ids: readonly string[];
  readonly outcome: 'stored' | 'refused' | 'unknown';
}

/** Appends with keys that others want as well, to streams that others write as well, until told to stop. */
const write = async (
  store: EventStoreDbStore,
  prefix: string,
  keys: readonly KeyClaim[],
  stopped: () => boolean,
): Promise<readonly Told[]> => {
  const told: Told[] = [];
  for (let n = 0; !stopped(); n++) {
    const stream = `${prefix}${n % 3}`;
    const key = keys[Math.floor(Math.random() * keys.length)]!;
    const events = sampleEvents(2);
    const note = (outcome: Told['outcome']): void => void told.push({ key, ids: idsOf(events), outcome });
    try {
      const expected: StreamRevision = await store.head(stream);
      await retryAppend(() => store.append(stream, expected, events, key), delay);
      note('stored');
    } catch (error) {
      const refused = error instanceof ConcurrencyError || error instanceof KeyAlreadyClaimedError;
      note(refused ? 'refused' : 'unknown');
      if (!refused) await delay(50);
    }
  }
  return told;
};

const usesOf = (told: readonly Told[], stored: ReadonlySet<string>, key: KeyClaim): number =>
  told.filter((one) => one.key === key && stored.has(one.ids[0]!)).length;

test(`${KILLS} kills of the server under load lose nothing, use no key twice and keep subscribers whole`, async () => {
  const server = await StandInProcess.start();
  const options = { url: server.url, appendTimeoutMs: 1_000, readTimeoutMs: 1_000 };
  const stores = [new EventStoreDbStore(options), new EventStoreDbStore(options)] as const;
  const [prefix, scope] = [newPrefix(), newClaim()];
  const keys = Array.from({ length: KEYS }, (_, n) => ({ ...scope, key: `key-${n}` }));
  const following = new AbortController();
  const seen: string[] = [];
  const follower = (async () => {
    for await (const message of stores[1].subscribe({ from: 'start', signal: following.signal }))
      if (message.kind === 'events') seen.push(...idsOf(message.events));
  })();
  let stopping = false;
  const writing = Array.from({ length: WRITERS }, (_, n) =>
    write(stores[n % 2]!, prefix, keys, () => stopping),
  );
  for (let kill = 0; kill < KILLS; kill++) {
    await delay(300);
    await server.kill();
    await delay(kill % 2 === 0 ? 20 : 400);
    await server.restart();
  }
  await delay(300);
  stopping = true;
  const told = (await Promise.all(writing)).flat();
  const readers = [0, 1, 2].map((n) => () => stores[0].read(`${prefix}${n}`));
  const streams = await Promise.all(readers.map((read) => retryUntilAvailable(read, delay)));
  const log = streams.flatMap(({ events }) => events);
  const stored = new Set(idsOf(log));
  await until(() => seen.length >= log.length, 'the follower to see everything', 90_000);
  following.abort();
  await follower;

  const lost = told.filter(({ outcome, ids }) => outcome === 'stored' && !ids.every((id) => stored.has(id)));
  const undead = told.filter(({ outcome, ids }) => outcome === 'refused' && ids.some((id) => stored.has(id)));
  expect({ lost, undead }).toEqual({ lost: [], undead: [] });
  expect(keys.filter((key) => usesOf(told, stored, key) > 1)).toEqual([]);
  expect(seen).toHaveLength(new Set(seen).size);
  for (const { events } of streams) {
    const order = new Set(idsOf(events));
    expect(seen.filter((id) => order.has(id))).toEqual(idsOf(events));
  }
  expect(told.filter(({ outcome }) => outcome === 'stored').length).toBeGreaterThan(0);
  await Promise.all(stores.map((store) => store.close()));
  await server.kill();
});
