import { describe, expect, test } from '@jest/globals';
import { status } from '@grpc/grpc-js';
import type { LogPosition, SubscriptionMessage } from '../../../application/ports/event-store.ts';
import { EventStoreDbStore } from '../../../infrastructure/eventstoredb/event-store-db-store.ts';
import {
  catchUp,
  eventsIn,
  failureOf,
  follow,
  idsOf,
  isCaughtUp,
  newPrefix,
  sampleEvents,
  within,
} from '../../contracts/event-store-samples.ts';
import { openAtStandIn } from '../../support/eventstoredb/open-store.ts';
import { EventStoreDbStandIn } from '../../support/eventstoredb/stand-in.ts';
import { TcpGate } from '../../support/eventstoredb/tcp-gate.ts';
import { failure } from '../../support/eventstoredb/wire.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';
import { until } from '../../support/within.ts';

const PATIENCE_MS = 60_000;

const fill = async (store: EventStoreDbStore, stream: string, count: number): Promise<readonly string[]> => {
  const events = sampleEvents(count);
  await store.append(stream, 'no_stream', events);
  return idsOf(events);
};

/** Reads on until so many events were handed out. */
const readOn = async (
  messages: AsyncGenerator<SubscriptionMessage>,
  seen: SubscriptionMessage[],
  count: number,
): Promise<readonly string[]> => {
  while (eventsIn(seen, '').length < count) {
    const next = await within(messages.next(), PATIENCE_MS, `event ${count}`);
    if (next.done) throw new Error('the subscription ended by itself');
    seen.push(next.value);
  }
  return idsOf(eventsIn(seen, ''));
};

describe('a subscription that the server drops', () => {
  test.each([
    ['in order, without an error', undefined],
    ['because it has no time for it', failure(status.ABORTED, 'Operation timed out')],
    ['because it shuts down', failure(status.CANCELLED, 'shutting down')],
    ['because it is overwhelmed', failure(status.UNAVAILABLE, 'server too busy')],
  ])('%s, goes on after the last event handed out', async (_, error) => {
    const logger = new RecordingLogger();
    await using at = await openAtStandIn({ logger });
    const [prefix, controller, seen] = [newPrefix(), new AbortController(), [] as SubscriptionMessage[]];
    const messages = at.store.subscribe({ from: 'start', batchSize: 4, signal: controller.signal });
    const before = await fill(at.store, `${prefix}A`, 10);
    await readOn(messages, seen, 4);
    await until(() => at.server.openSubscriptions === 2, 'its own reading and the one for all');
    at.server.dropSubscriptions(error);
    const after = await fill(at.store, `${prefix}B`, 5);
    expect(await readOn(messages, seen, 15)).toEqual([...before, ...after]);
    controller.abort();
    expect(logger.lines.filter(({ level }) => level === 'warn').length).toBeGreaterThan(0);
  });

  test('says again that it has caught up', async () => {
    await using at = await openAtStandIn();
    let dropped = false;
    const messages = await follow(at.store, { from: 'start' }, PATIENCE_MS, (seen) => {
      const caughtUp = seen.filter(({ kind }) => kind === 'caught_up').length;
      if (caughtUp === 1 && !dropped) at.server.dropSubscriptions();
      dropped ||= caughtUp === 1;
      return caughtUp === 2;
    });
    expect(messages.map(({ kind }) => kind)).toEqual(['caught_up', 'caught_up']);
  });

  test('with its process is found again when that is back, however long it takes', async () => {
    const first = await EventStoreDbStandIn.start();
    const store = new EventStoreDbStore({ url: first.url, readTimeoutMs: 100 });
    const [prefix, controller, seen] = [newPrefix(), new AbortController(), [] as SubscriptionMessage[]];
    const messages = store.subscribe({ from: 'start', signal: controller.signal });
    const before = await fill(store, `${prefix}A`, 3);
    await readOn(messages, seen, 3);
    await first.kill();
    const next = messages.next();
    for (let n = 0; n < 5; n++) await failureOf(store.head(`${prefix}A`));
    const second = await EventStoreDbStandIn.start({ port: first.port, log: first.log });
    const writer = new EventStoreDbStore({ url: second.url });
    const after = await fill(writer, `${prefix}B`, 2);
    const { value } = await within(next, PATIENCE_MS, 'the subscription to go on');
    if (value) seen.push(value);
    expect(await readOn(messages, seen, 5)).toEqual([...before, ...after]);
    controller.abort();
    await Promise.all([store.close(), writer.close()]);
    await second.kill();
  });

  test('on a line that is cut comes back over a new one', async () => {
    await using at = await openAtStandIn();
    const gate = await TcpGate.before(at.server.port);
    const store = new EventStoreDbStore({ url: gate.url });
    const [prefix, controller, seen] = [newPrefix(), new AbortController(), [] as SubscriptionMessage[]];
    const messages = store.subscribe({ from: 'start', signal: controller.signal });
    const before = await fill(at.store, `${prefix}A`, 3);
    await readOn(messages, seen, 3);
    gate.cut();
    const after = await fill(at.store, `${prefix}B`, 3);
    expect(await readOn(messages, seen, 6)).toEqual([...before, ...after]);
    controller.abort();
    await store.close();
    await gate.close();
  });

  test('by forgetting it is asked for again after a long silence', async () => {
    await using at = await openAtStandIn({ quietMs: 50, renewAfterMs: 150 });
    at.server.faults.subscriptions = 'silent';
    const ids = await fill(at.store, `${newPrefix()}A`, 2);
    const controller = new AbortController();
    const reading = readOn(at.store.subscribe({ from: 'start', signal: controller.signal }), [], 2);
    await until(() => at.server.faults.count('Subscribe') >= 2, 'a second subscription');
    at.server.faults.subscriptions = 'answered';
    expect(await reading).toEqual(ids);
    controller.abort();
  });

  test('that never confirms is left and asked for again', async () => {
    await using at = await openAtStandIn({ confirmationMs: 1_000 });
    at.server.faults.subscriptions = 'unconfirmed';
    const ids = await fill(at.store, `${newPrefix()}A`, 2);
    const controller = new AbortController();
    const messages = at.store.subscribe({ from: 'start', signal: controller.signal });
    const reading = readOn(messages, [], 2);
    await until(() => at.server.faults.count('Subscribe') >= 2, 'a second subscription');
    at.server.faults.subscriptions = 'answered';
    expect(await reading).toEqual(ids);
    await until(() => at.server.openSubscriptions === 1, 'the others to be left');
    controller.abort();
  });
});

describe('subscriptions at the server', () => {
  test('are gone when their readers are: by break, by the signal, by closing', async () => {
    await using at = await openAtStandIn();
    await fill(at.store, `${newPrefix()}A`, 50);
    for (let n = 0; n < 105; n++) {
      const controller = new AbortController();
      const messages = at.store.subscribe({ from: 'start', batchSize: 5, signal: controller.signal });
      await messages.next();
      if (n % 2 === 0) await messages.return(undefined);
      else controller.abort();
    }
    await until(() => at.server.openSubscriptions === 0, 'all to be left');
    // A hundred open ones would have left no room for this call.
    expect(await at.store.head(`${newPrefix()}A`)).toBe('no_stream');
    const left = at.store.subscribe({ from: 'start', signal: new AbortController().signal });
    await left.next();
    expect(at.server.openSubscriptions).toBe(1);
    await at.store.close();
    await until(() => at.server.openSubscriptions === 0, 'the last one to be left');
  });

  test('send no more than the reader has room for', async () => {
    await using at = await openAtStandIn();
    const stream = `${newPrefix()}A`;
    let revision: bigint | 'no_stream' = 'no_stream';
    for (let n = 0; n < 6; n++)
      revision = (await at.store.append(stream, revision, sampleEvents(200))).revision;
    const controller = new AbortController();
    const messages = at.store.subscribe({ from: 'start', batchSize: 10, signal: controller.signal });
    await messages.next();
    const sent = at.server.faults.messagesSent;
    for (let n = 0; n < 50; n++) await new Promise(setImmediate);
    expect(at.server.faults.messagesSent).toBeLessThan(900);
    expect(sent).toBeLessThan(900);
    controller.abort();
  });
});

describe('where a subscription has come to', () => {
  test('is told for streams of others as well, in line behind the events before', async () => {
    await using at = await openAtStandIn();
    const prefix = newPrefix();
    const ids = await fill(at.store, `${prefix}A`, 3);
    for (let n = 0; n < 6; n++) await fill(at.store, `other-${n}`, 100);
    const messages = await follow(at.store, { from: 'start' }, PATIENCE_MS, isCaughtUp);
    expect(idsOf(eventsIn(messages, ''))).toEqual(ids);
    const checkpoints = messages.flatMap((m) => (m.kind === 'checkpoint' ? [m.checkpoint] : []));
    expect(checkpoints.length).toBeGreaterThan(0);
    for (const checkpoint of checkpoints)
      expect(await catchUp(at.store, prefix, PATIENCE_MS, { from: checkpoint })).toEqual([]);
  });

  test('is not a position of another engine', async () => {
    await using at = await openAtStandIn();
    const { signal } = new AbortController();
    for (const from of ['17', '@3', '1/', '', '1/2/3'])
      expect(
        await failureOf(at.store.subscribe({ from: from as LogPosition, signal }).next()),
      ).toBeInstanceOf(RangeError);
  });
});

describe('having caught up', () => {
  test('is heard behind every event that was there, however slowly they are read', async () => {
    await using at = await openAtStandIn();
    const ids = await fill(at.store, `${newPrefix()}A`, 40);
    const messages = await follow(at.store, { from: 'start', batchSize: 3 }, PATIENCE_MS, isCaughtUp);
    expect(idsOf(eventsIn(messages, ''))).toEqual(ids);
  });

  test('is taken from silence where the server does not say it', async () => {
    await using at = await openAtStandIn({ quietMs: 1_500 });
    at.server.faults.saysCaughtUp = false;
    const ids = await fill(at.store, `${newPrefix()}A`, 20);
    const messages = await follow(at.store, { from: 'start' }, PATIENCE_MS, isCaughtUp);
    expect(idsOf(eventsIn(messages, ''))).toEqual(ids);
  });

  test('is not taken from the time for which this process stood still', async () => {
    await using at = await openAtStandIn({ quietMs: 400 });
    at.server.faults.saysCaughtUp = false;
    const ids = await fill(at.store, `${newPrefix()}A`, 20);
    let over: number | undefined;
    const standStill = (): void => {
      for (over ??= performance.now() + 600; performance.now() < over;);
    };
    // The server looks at this once it has got the subscription, and before it says anything.
    Object.defineProperty(at.server.faults, 'subscriptions', { get: () => (standStill(), 'answered') });
    const following = follow(at.store, { from: 'start' }, PATIENCE_MS, isCaughtUp);
    expect(idsOf(eventsIn(await following, ''))).toEqual(ids);
  });

  test('is told behind what was there, where the server does not say it and is never silent', async () => {
    await using at = await openAtStandIn({ quietMs: 600_000 });
    at.server.faults.saysCaughtUp = false;
    const prefix = newPrefix();
    const ids = await fill(at.store, `${prefix}A`, 20);
    const writing = new AbortController();
    const written = (async () => {
      for (let n = 0; n < 200 && !writing.signal.aborted; n++) await fill(at.store, `${prefix}B${n}`, 1);
    })();
    try {
      const messages = await follow(at.store, { from: 'start' }, PATIENCE_MS, isCaughtUp);
      expect(idsOf(eventsIn(messages, `${prefix}A`))).toEqual(ids);
    } finally {
      writing.abort();
      await written;
    }
  });
});
