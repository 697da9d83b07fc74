import { setImmediate as turn } from 'node:timers/promises';
import { expect } from '@jest/globals';
import type { LogPosition, RecordedEvent, SubscriptionMessage } from '../../application/ports/event-store.ts';
import type { EventStoreCase, EventStoreUnderTest } from './event-store-samples.ts';
import {
  catchUp,
  eventsIn,
  follow,
  idsOf,
  isCaughtUp,
  newPrefix,
  sampleEvents,
  within,
} from './event-store-samples.ts';

/** Fills streams of a prefix in turns; the answer is in log order. */
const fill = async (
  store: EventStoreUnderTest,
  prefix: string,
  rounds: number,
): Promise<readonly RecordedEvent[]> => {
  const log: RecordedEvent[] = [];
  for (let round = 0; round < rounds; round++)
    for (const name of ['A', 'B']) {
      const expected = round === 0 ? 'no_stream' : BigInt(round * 2 - 1);
      await store.append(`${prefix}${name}`, expected, sampleEvents(2));
      log.push(...(await store.read(`${prefix}${name}`, BigInt(round * 2))).events);
    }
  expect(log).toHaveLength(rounds * 4);
  return log;
};

/** Fills once the subscriber had its chance to fall asleep. */
const fillLater = (
  store: EventStoreUnderTest,
  prefix: string,
  rounds: number,
): Promise<readonly RecordedEvent[]> => {
  const filling = turn().then(() => fill(store, prefix, rounds));
  // A case that gives up before it awaits this has failed already; a broken store's refusal must not fail the run as well.
  filling.catch(() => undefined);
  return filling;
};

const holds =
  (prefix: string, count: number) =>
  (messages: readonly SubscriptionMessage[]): boolean =>
    eventsIn(messages, prefix).length >= count;

export const subscriptionCases: readonly EventStoreCase[] = [
  {
    name: 'the end of the log lies behind what was answered before and before what is appended later',
    check: async (store, patienceMs) => {
      const stream = `${newPrefix()}A`;
      for (let revision = -1n; revision < 5n; revision += 2n) {
        await store.append(stream, revision < 0n ? 'no_stream' : revision, sampleEvents(2));
        const end = await store.end();
        await store.append(`${stream}${revision}`, 'no_stream', sampleEvents(2));
        const messages = await follow(store, { from: end }, patienceMs, holds(stream, 2));
        expect(eventsIn(messages, stream).map((event) => event.stream)).toEqual(
          Array(2).fill(`${stream}${revision}`),
        );
      }
    },
  },
  {
    name: 'a subscriber from the start gets every event whole and in log order, then hears that it has caught up',
    check: async (store, patienceMs) => {
      const prefix = newPrefix();
      const log = await fill(store, prefix, 3);
      const messages = await follow(store, { from: 'start' }, patienceMs, isCaughtUp);
      expect(eventsIn(messages, prefix)).toEqual(log);
      for (const message of messages)
        if (message.kind === 'events')
          expect(message.checkpoint).toBe(message.events.at(-1)?.position ?? 'an event');
    },
  },
  {
    name: 'a subscriber that has caught up gets what is appended later, whole and in order',
    check: async (store, patienceMs) => {
      const prefix = newPrefix();
      const before = await fill(store, prefix, 1);
      let later: Promise<readonly RecordedEvent[]> | undefined;
      const messages = await follow(store, { from: 'start' }, patienceMs, (seen) => {
        if (isCaughtUp(seen)) later ??= fillLater(store, `${prefix}later-`, 3);
        return holds(`${prefix}later-`, 12)(seen);
      });
      expect(eventsIn(messages, prefix)).toEqual([...before, ...((await later) ?? [])]);
    },
  },
  {
    name: 'resuming after any event gives exactly the events behind it',
    check: async (store, patienceMs) => {
      const prefix = newPrefix();
      const log = await fill(store, prefix, 2);
      for (const [index, { position }] of log.entries()) {
        const rest = await catchUp(store, prefix, patienceMs, { from: position });
        expect(idsOf(rest)).toEqual(idsOf(log.slice(index + 1)));
      }
    },
  },
  {
    name: 'no checkpoint overtakes an event: resuming from each gives just what was not handed out before it',
    check: async (store, patienceMs) => {
      const prefix = newPrefix();
      const log = await fill(store, prefix, 4);
      const wanted = `${prefix}A`;
      const options = { from: 'start', streamPrefix: wanted, batchSize: 3 } as const;
      const messages = await follow(store, options, patienceMs, isCaughtUp);
      const ours = log.filter(({ stream }) => stream === wanted);
      expect(eventsIn(messages, wanted)).toEqual(ours);
      for (const [index, message] of messages.entries()) {
        if (message.kind === 'caught_up') continue;
        const seen = eventsIn(messages.slice(0, index + 1), wanted).length;
        const rest = await catchUp(store, wanted, patienceMs, { from: message.checkpoint });
        expect(idsOf(rest)).toEqual(idsOf(ours.slice(seen)));
      }
    },
  },
  {
    name: 'the prefix lets only its streams pass, and a checkpoint tells how far the others were skipped',
    check: async (store, patienceMs) => {
      const prefix = newPrefix();
      await fill(store, `${prefix}x-`, 1);
      await fill(store, `${prefix}y-`, 3);
      const log = eventsIn(await follow(store, { from: 'start' }, patienceMs, isCaughtUp), prefix);
      const options = { from: 'start', streamPrefix: `${prefix}x-` } as const;
      const messages = await follow(store, options, patienceMs, isCaughtUp);
      const handedOut = messages.flatMap((message) => (message.kind === 'events' ? message.events : []));
      expect(handedOut).toEqual(log.slice(0, 4));
      const last = messages.findLast((message) => message.kind === 'checkpoint');
      const resumed = await catchUp(store, prefix, patienceMs, { from: last?.checkpoint as LogPosition });
      expect(resumed).toEqual([]);
    },
  },
  {
    name: 'a live subscriber whose filter lets nothing pass still gets checkpoints',
    check: async (store, patienceMs) => {
      const prefix = newPrefix();
      let appended: Promise<readonly RecordedEvent[]> | undefined;
      const options = { from: 'start', streamPrefix: `${prefix}none` } as const;
      const messages = await follow(store, options, patienceMs, (seen) => {
        const live = appended !== undefined && seen.at(-1)?.kind === 'checkpoint';
        if (isCaughtUp(seen)) appended ??= fillLater(store, prefix, 1);
        return live;
      });
      expect(messages.every(({ kind }) => kind !== 'events')).toBe(true);
      expect(await appended).toHaveLength(4);
    },
  },
  {
    name: 'no message holds more events than the batch size',
    check: async (store, patienceMs) => {
      const prefix = newPrefix();
      const log = await fill(store, prefix, 4);
      const messages = await follow(store, { from: 'start', batchSize: 3 }, patienceMs, isCaughtUp);
      const sizes = messages.map((message) => (message.kind === 'events' ? message.events.length : 0));
      expect(Math.max(...sizes)).toBeLessThanOrEqual(3);
      expect(eventsIn(messages, prefix)).toEqual(log);
    },
  },
  {
    name: 'subscribers see the same order and no event twice or never while many append at once',
    check: async (store, patienceMs) => {
      const prefix = newPrefix();
      const writer = async (stream: string): Promise<void> => {
        for (let n = 0; n < 25; n++)
          await store.append(stream, n === 0 ? 'no_stream' : BigInt(n - 1), sampleEvents(1));
      };
      const [early] = await Promise.all([
        follow(store, { from: 'start', batchSize: 7 }, patienceMs, holds(prefix, 200)),
        ...Array.from({ length: 8 }, (_, n) => writer(`${prefix}${n}`)),
      ]);
      const log = await catchUp(store, prefix, patienceMs);
      expect(new Set(idsOf(log)).size).toBe(200);
      expect(eventsIn(early, prefix)).toEqual(log);
      for (let n = 0; n < 8; n++) {
        const revisions = log.filter(({ stream }) => stream === `${prefix}${n}`).map((e) => e.revision);
        expect(revisions).toEqual(Array.from({ length: 25 }, (_, index) => BigInt(index)));
      }
    },
  },
  {
    name: 'a subscriber that pauses for long misses nothing, and nobody waits for it',
    check: async (store, patienceMs) => {
      const prefix = newPrefix();
      const controller = new AbortController();
      const slow = store.subscribe({ from: 'start', signal: controller.signal })[Symbol.asyncIterator]();
      const messages: SubscriptionMessage[] = [];
      while (!isCaughtUp(messages)) {
        const next = await within(slow.next(), patienceMs, 'catching up');
        if (next.done) throw new Error('the subscription ended by itself');
        messages.push(next.value);
      }
      await Promise.all(
        Array.from({ length: 60 }, (_, n) => store.append(`${prefix}${n}`, 'no_stream', sampleEvents(10))),
      );
      const log = await catchUp(store, prefix, patienceMs);
      while (!holds(prefix, 600)(messages)) {
        const next = await within(slow.next(), patienceMs, 'the rest');
        if (next.done) throw new Error('the subscription ended by itself');
        messages.push(next.value);
      }
      controller.abort();
      expect(idsOf(eventsIn(messages, prefix))).toEqual(idsOf(log));
    },
  },
  {
    name: 'the signal ends a waiting subscription at once and normally, and one that it precedes from the beginning',
    check: async (store, patienceMs) => {
      const prefix = newPrefix();
      const log = await fill(store, prefix, 1);
      const controller = new AbortController();
      const messages: SubscriptionMessage[] = [];
      const caughtUp = Promise.withResolvers<void>();
      const ended = (async () => {
        for await (const message of store.subscribe({ from: 'start', signal: controller.signal })) {
          messages.push(message);
          if (message.kind === 'caught_up') caughtUp.resolve();
        }
      })();
      await within(caughtUp.promise, patienceMs, 'catching up');
      setImmediate(() => controller.abort());
      await within(ended, Math.min(patienceMs, 1_000), 'the end of the subscription');
      expect(eventsIn(messages, prefix)).toEqual(log);
      const never = store.subscribe({ from: 'start', signal: controller.signal })[Symbol.asyncIterator]();
      expect((await within(never.next(), patienceMs, 'the end before the beginning')).done).toBe(true);
    },
  },
  {
    name: 'an aborted subscription hands out nothing more, even when there is more',
    check: async (store, patienceMs) => {
      const prefix = newPrefix();
      await fill(store, prefix, 2);
      const controller = new AbortController();
      const options = {
        from: 'start',
        streamPrefix: prefix,
        batchSize: 1,
        signal: controller.signal,
      } as const;
      const iterator = store.subscribe(options)[Symbol.asyncIterator]();
      const first = await within(iterator.next(), patienceMs, 'the first message');
      expect(first.done).toBe(false);
      controller.abort();
      expect((await within(iterator.next(), patienceMs, 'the end')).done).toBe(true);
    },
  },
  {
    name: 'a place is one of this log as soon as it was answered, and none beyond the end',
    check: async (store) => {
      const prefix = newPrefix();
      const places: LogPosition[] = [];
      for (let n = 0; n < 3; n++) {
        places.push((await store.append(`${prefix}${n}`, 'no_stream', sampleEvents(2))).position);
        for (const place of places) await store.ensureHas(place);
      }
      const beyond = places[2]!.replaceAll(/\d+/g, (digits) => String(BigInt(digits) + 10n ** 12n));
      await expect(store.ensureHas(beyond as LogPosition)).rejects.toBeInstanceOf(RangeError);
    },
  },
  {
    name: 'breaking out of many subscriptions leaves the store in order',
    check: async (store, patienceMs) => {
      const prefix = newPrefix();
      const from = await store.end();
      const log = await fill(store, prefix, 2);
      const breakAt = async (kind: SubscriptionMessage['kind']): Promise<void> => {
        const { signal } = new AbortController();
        for await (const message of store.subscribe({ from, streamPrefix: prefix, signal }))
          if (message.kind === kind) break;
      };
      for (let n = 0; n < 40; n++)
        await within(breakAt(n % 2 === 0 ? 'events' : 'caught_up'), patienceMs, 'the message to break at');
      await store.append(`${prefix}A`, 3n, sampleEvents(1));
      expect(idsOf(await catchUp(store, prefix, patienceMs)).slice(0, 8)).toEqual(idsOf(log));
      expect(await catchUp(store, prefix, patienceMs)).toHaveLength(9);
    },
  },
];
