import { describe, expect, test } from '@jest/globals';
import { status } from '@grpc/grpc-js';
import type { LogPosition, SubscriptionMessage } from '../../../application/ports/event-store.ts';
import { StoreUnavailableError } from '../../../application/ports/event-store.ts';
import type { EventStoreDbStore } from '../../../infrastructure/eventstoredb/event-store-db-store.ts';
import {
  catchUp,
  eventsIn,
  failureOf,
  follow,
  idsOf,
  isCaughtUp,
  newPrefix,
  sampleEvents,
} from '../../contracts/event-store-samples.ts';
import { openAtStandIn } from '../../support/eventstoredb/open-store.ts';
import { failure } from '../../support/eventstoredb/wire.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';
import { until } from '../../support/within.ts';

const PATIENCE_MS = 60_000;

/** The first thing that a subscription from there says. */
const firstOf = (store: EventStoreDbStore, from: LogPosition | 'start') =>
  failureOf(store.subscribe({ from, signal: AbortSignal.timeout(PATIENCE_MS) }).next());

const fill = async (store: EventStoreDbStore, stream: string, count = 2): Promise<LogPosition> =>
  (await store.append(stream, 'no_stream', sampleEvents(count))).position;

describe('a position that is no place in this log is refused with what mends it', () => {
  test('beyond the end, after an older state of the log was restored, and nothing is handed out', async () => {
    await using at = await openAtStandIn();
    const prefix = newPrefix();
    const kept = await fill(at.store, `${prefix}A`);
    const lost = await fill(at.store, `${prefix}B`);
    at.server.log.cutBehind(Number(kept.split('/')[0]));
    await fill(at.store, `${prefix}C`, 1);
    const error = await firstOf(at.store, lost);
    expect(error).toBeInstanceOf(RangeError);
    expect(String(error)).toContain('beyond the end');
    expect(String(error)).toContain('projections rebuild');
  });

  test('in the middle of a record, as the positions of another server are', async () => {
    await using at = await openAtStandIn();
    const commit = Number((await fill(at.store, `${newPrefix()}A`)).split('/')[0]) - 1;
    const error = await firstOf(at.store, `${commit}/${commit}` as LogPosition);
    expect(error).toBeInstanceOf(RangeError);
    expect(String(error)).toContain('middle of a record');
  });

  test('while it is followed, when the server comes back with an older log', async () => {
    await using at = await openAtStandIn();
    const prefix = newPrefix();
    const kept = await fill(at.store, `${prefix}A`);
    await fill(at.store, `${prefix}B`);
    const messages = at.store.subscribe({ from: 'start', signal: AbortSignal.timeout(PATIENCE_MS) });
    let caughtUp = false;
    while (!caughtUp) caughtUp = (await messages.next()).value?.kind === 'caught_up';
    // What is stored now comes by what is read for all: from then on that is subscribed at the server.
    await fill(at.store, `${prefix}C`, 1);
    const seen: SubscriptionMessage[] = [];
    while (eventsIn(seen, prefix).length === 0) seen.push((await messages.next()).value!);
    at.server.log.cutBehind(Number(kept.split('/')[0]));
    at.server.dropSubscriptions();
    expect(await failureOf(messages.next())).toBeInstanceOf(RangeError);
  });

  test('and whoever comes before that is known is handed nothing of what the log has lost', async () => {
    await using at = await openAtStandIn();
    const prefix = newPrefix();
    const kept = await fill(at.store, `${prefix}A`);
    const ending = new AbortController();
    const { signal } = ending;
    const first = at.store.subscribe({ from: kept, signal });
    expect((await first.next()).value).toEqual({ kind: 'caught_up' });
    const lost = first.next();
    await until(() => at.server.openSubscriptions === 1, 'what is read for all');
    await fill(at.store, `${prefix}B`);
    await lost;
    at.server.log.cutBehind(Number(kept.split('/')[0]));
    at.server.dropSubscriptions();
    const seen: SubscriptionMessage[] = [];
    const later = at.store.subscribe({ from: kept, signal });
    seen.push((await later.next()).value!);
    await fill(at.store, `${prefix}C`, 1);
    while (eventsIn(seen, prefix).length === 0) seen.push((await later.next()).value!);
    expect(eventsIn(seen, prefix).map(({ stream }) => stream)).toEqual([`${prefix}C`]);
    ending.abort();
  });

  test('and what stands there is followed', async () => {
    await using at = await openAtStandIn();
    const prefix = newPrefix();
    const from = await fill(at.store, `${prefix}A`);
    await fill(at.store, `${prefix}B`);
    expect(await catchUp(at.store, prefix, PATIENCE_MS, { from })).toHaveLength(2);
  });
});

describe('a subscription that can never work is heard of', () => {
  test('without the right to read the whole log, at once', async () => {
    await using at = await openAtStandIn();
    at.server.faults.mayReadAll = false;
    const error = await firstOf(at.store, 'start');
    expect(error).toBeInstanceOf(StoreUnavailableError);
    expect(String(error)).toContain('may not read $all');
  });

  test('by nobody confirming it for a while', async () => {
    await using at = await openAtStandIn({ confirmationMs: 50, unconfirmedMs: 200 });
    at.server.faults.subscriptions = 'unconfirmed';
    await fill(at.store, `${newPrefix()}A`);
    expect(String(await firstOf(at.store, 'start'))).toMatch(/confirmed no subscription .* for \d+ s/);
  });
});

describe('all followers of a process', () => {
  test('share one subscription once they have caught up, and each sees everything in order', async () => {
    await using at = await openAtStandIn();
    const prefix = newPrefix();
    await fill(at.store, `${prefix}A`, 5);
    const stopping = new AbortController();
    const seen = Array.from({ length: 7 }, () => [] as string[]);
    const following = seen.map(async (ids) => {
      for await (const message of at.store.subscribe({ from: 'start', signal: stopping.signal }))
        if (message.kind === 'events') ids.push(...idsOf(message.events));
    });
    await until(() => seen.every(({ length }) => length === 5), 'all to see what there was');
    await until(() => at.server.openSubscriptions === 1, 'one subscription');
    const before = at.server.faults.messagesSent;
    for (let n = 0; n < 10; n++) await fill(at.store, `${prefix}B${n}`, 2);
    await until(() => seen.every(({ length }) => length === 25), 'all to see what came');
    stopping.abort();
    await Promise.all(following);
    expect(at.server.faults.messagesSent - before).toBe(20);
    const stored = at.server.log.events.map(({ id }) => id);
    for (const ids of seen) expect(ids).toEqual(stored);
  });

  test('are not held up by one that does nothing, which still sees everything', async () => {
    await using at = await openAtStandIn();
    const prefix = newPrefix();
    await fill(at.store, `${prefix}first`, 1);
    const idle = at.store.subscribe({ from: 'start', signal: AbortSignal.timeout(60_000) });
    await idle.next();
    for (let n = 0; n < 18; n++) await fill(at.store, `${prefix}${n}`, 500);
    const quick = await catchUp(at.store, prefix, PATIENCE_MS);
    expect(quick).toHaveLength(9_001);
    let count = 1;
    while (count < 9_001) {
      const { value } = await idle.next();
      if (value?.kind === 'events') count += value.events.length;
    }
    await idle.return(undefined);
    expect(count).toBe(9_001);
  });
});

test('a moment in which events come too fast is no failure: it comes back at once, without a warning', async () => {
  const logger = new RecordingLogger();
  await using at = await openAtStandIn({ logger });
  const prefix = newPrefix();
  const stopping = new AbortController();
  const seen: string[] = [];
  const following = (async () => {
    for await (const message of at.store.subscribe({ from: 'start', signal: stopping.signal }))
      if (message.kind === 'events') seen.push(...idsOf(message.events));
  })();
  await until(() => at.server.openSubscriptions === 1, 'the subscription');
  const tooSlow = 'Consumer too slow to handle event while live. Client resubscription required.';
  at.server.dropSubscriptions(failure(status.ABORTED, `Operation timed out: ${tooSlow}`));
  await fill(at.store, `${prefix}A`, 3);
  await until(() => seen.length === 3, 'what came after it');
  stopping.abort();
  await following;
  expect(at.store.slowMoments).toBe(1);
  expect(logger.lines.filter(({ level }) => level === 'warn')).toEqual([]);
});

test('having caught up is told to whoever joins a reading that is live already', async () => {
  await using at = await openAtStandIn();
  const from = await fill(at.store, `${newPrefix()}A`);
  const live = new AbortController();
  const first = at.store.subscribe({ from, signal: live.signal });
  await first.next();
  const messages = await follow(at.store, { from }, PATIENCE_MS, isCaughtUp);
  live.abort();
  expect(messages.map(({ kind }) => kind)).toEqual(['caught_up']);
});
