import { expect } from '@jest/globals';
import { decodeEvent } from '../../application/event-codec/event-codec.ts';
import type { EventMetadata, StreamRevision } from '../../application/ports/event-store.ts';
import { ConcurrencyError } from '../../application/ports/event-store.ts';
import type { EventStoreCase, EventStoreUnderTest } from './event-store-samples.ts';
import {
  catchUp,
  failureOf,
  idsOf,
  newPrefix,
  sampleEvent,
  sampleEvents,
  sampleMetadata,
} from './event-store-samples.ts';

const AWKWARD_JSON =
  '{"amount":950.00,"big":12345678901234567890, "text":"ação \\u0000 ✓ 𝄞 \\" ~","":[null,1e2]}';

const expectConflict = async (
  store: EventStoreUnderTest,
  stream: string,
  expected: StreamRevision,
  actual: StreamRevision,
): Promise<void> => {
  const failure = await failureOf(store.append(stream, expected, sampleEvents(2)));
  expect(failure).toBeInstanceOf(ConcurrencyError);
  expect(failure).toMatchObject({ stream, expected, actual });
};

export const appendCases: readonly EventStoreCase[] = [
  {
    name: 'an event whose metadata is none of ours is handed out in its place, as one that nobody reads, with what stands behind it',
    check: async (store, patienceMs) => {
      const stream = `${newPrefix()}A`;
      const events = sampleEvents(3).map((event, n) =>
        n === 1 ? { ...event, metadata: { hash: 'of another' } as EventMetadata } : event,
      );
      await store.append(stream, 'no_stream', events);
      const followed = await catchUp(store, stream, patienceMs);
      for (const found of [followed, (await store.read(stream)).events]) {
        expect(idsOf(found)).toEqual(idsOf(events));
        expect(found.map(({ metadata }) => metadata.hash)).toEqual(['9f'.repeat(32), '', '9f'.repeat(32)]);
        expect(() => decodeEvent(found[1]!)).toThrow('its metadata is not what was stored');
      }
    },
  },
  {
    name: 'an event is read back exactly as it was appended, its JSON text to the character',
    check: async (store) => {
      const stream = `${newPrefix()}A_1~2f`;
      const idempotency = { endpoint: 'POST /loan', key: 'k 1/ü', fingerprint: 'ab'.repeat(32) };
      const event = {
        ...sampleEvent(AWKWARD_JSON),
        metadata: sampleMetadata({ idempotency, fundId: 'f \" ü' }),
      };
      const result = await store.append(stream, 'no_stream', [event]);
      const { events, revision } = await store.read(stream);
      expect(events).toEqual([{ ...event, stream, revision: 0n, position: result.position }]);
      expect([result.revision, revision, await store.head(stream)]).toEqual([0n, 0n, 0n]);
    },
  },
  {
    name: 'revisions count from zero without gaps over several appends',
    check: async (store) => {
      const stream = `${newPrefix()}A`;
      const all = sampleEvents(6);
      expect((await store.append(stream, 'no_stream', all.slice(0, 3))).revision).toBe(2n);
      expect((await store.append(stream, 2n, all.slice(3, 4))).revision).toBe(3n);
      expect((await store.append(stream, 3n, all.slice(4))).revision).toBe(5n);
      const { events, revision } = await store.read(stream);
      expect(idsOf(events)).toEqual(idsOf(all));
      expect(events.map((event) => event.revision)).toEqual([0n, 1n, 2n, 3n, 4n, 5n]);
      expect(revision).toBe(5n);
    },
  },
  {
    name: 'reading from a revision gives that event and what follows, together with the head',
    check: async (store) => {
      const stream = `${newPrefix()}A`;
      const all = sampleEvents(4);
      await store.append(stream, 'no_stream', all);
      const tail = await store.read(stream, 2n);
      expect(idsOf(tail.events)).toEqual(idsOf(all.slice(2)));
      expect(tail.revision).toBe(3n);
      expect(await store.read(stream, 4n)).toEqual({ events: [], revision: 3n });
    },
  },
  {
    name: 'a stream is absent until its first append, whatever other streams hold',
    check: async (store) => {
      const prefix = newPrefix();
      expect(await store.read(`${prefix}B`)).toEqual({ events: [], revision: 'no_stream' });
      await store.append(`${prefix}A`, 'no_stream', sampleEvents(1));
      expect(await store.head(`${prefix}B`)).toBe('no_stream');
      expect(await store.head(`${prefix}A`)).toBe(0n);
      await store.append(`${prefix}B`, 'no_stream', sampleEvents(1));
      expect((await store.read(`${prefix}B`)).events).toHaveLength(1);
    },
  },
  {
    name: 'an append at another revision than the stream has is refused and stores nothing',
    check: async (store) => {
      const prefix = newPrefix();
      const stored = sampleEvents(3);
      await store.append(`${prefix}A`, 'no_stream', stored);
      await expectConflict(store, `${prefix}A`, 'no_stream', 2n);
      await expectConflict(store, `${prefix}A`, 1n, 2n);
      await expectConflict(store, `${prefix}A`, 3n, 2n);
      await expectConflict(store, `${prefix}absent`, 0n, 'no_stream');
      expect(idsOf((await store.read(`${prefix}A`)).events)).toEqual(idsOf(stored));
      expect(await store.head(`${prefix}absent`)).toBe('no_stream');
    },
  },
  {
    name: 'of many writers that expect the same revision exactly one wins, round after round',
    check: async (store) => {
      const stream = `${newPrefix()}A`;
      let expected: StreamRevision = 'no_stream';
      for (let round = 0; round < 4; round++) {
        const at: StreamRevision = expected;
        const attempts = Array.from({ length: 12 }, () => store.append(stream, at, sampleEvents(2)));
        const outcomes = await Promise.allSettled(attempts);
        const won = outcomes.filter((outcome) => outcome.status === 'fulfilled');
        const lost = outcomes.flatMap((outcome) =>
          outcome.status === 'rejected' ? [outcome.reason as unknown] : [],
        );
        expect(won).toHaveLength(1);
        expect(lost.every((reason) => reason instanceof ConcurrencyError)).toBe(true);
        expected = BigInt(round * 2 + 1);
        expect(await store.head(stream)).toBe(expected);
      }
      expect((await store.read(stream)).events).toHaveLength(8);
    },
  },
  {
    name: 'appends at once succeed or fail each on its own',
    check: async (store) => {
      const prefix = newPrefix();
      await store.append(`${prefix}taken`, 'no_stream', sampleEvents(1));
      const outcomes = await Promise.allSettled(
        Array.from({ length: 30 }, (_, n) =>
          store.append(n % 3 === 0 ? `${prefix}taken` : `${prefix}${n}`, 'no_stream', sampleEvents(2)),
        ),
      );
      expect(outcomes.map(({ status }) => status === 'fulfilled')).toEqual(
        Array.from({ length: 30 }, (_, n) => n % 3 !== 0),
      );
      const heads = await Promise.all(Array.from({ length: 30 }, (_, n) => store.head(`${prefix}${n}`)));
      expect(heads.filter((head) => head === 1n)).toHaveLength(20);
      expect(await store.head(`${prefix}taken`)).toBe(0n);
    },
  },
  {
    name: 'repeating an append answers the first result and stores nothing, also when the stream has moved on',
    check: async (store) => {
      const stream = `${newPrefix()}A`;
      const [opening, second, third] = [sampleEvents(2), sampleEvents(3), sampleEvents(1)];
      const first = await store.append(stream, 'no_stream', opening);
      expect(await store.append(stream, 'no_stream', opening)).toEqual(first);
      const result = await store.append(stream, 1n, second);
      await store.append(stream, 4n, third);
      expect(await store.append(stream, 1n, second)).toEqual(result);
      expect(await store.append(stream, 'no_stream', opening)).toEqual(first);
      expect(idsOf((await store.read(stream)).events)).toEqual(idsOf([...opening, ...second, ...third]));
    },
  },
  {
    name: 'an append sent several times at once is stored once and answers the same each time',
    check: async (store) => {
      const stream = `${newPrefix()}A`;
      const events = sampleEvents(2);
      const results = await Promise.all([1, 2, 3, 4].map(() => store.append(stream, 'no_stream', events)));
      expect(results).toEqual([results[0], results[0], results[0], results[0]]);
      expect(idsOf((await store.read(stream)).events)).toEqual(idsOf(events));
    },
  },
  {
    name: 'ids that match only in part, in another order or in another stream are no repetition',
    check: async (store) => {
      const prefix = newPrefix();
      const [a, b] = [sampleEvent(), sampleEvent()];
      await store.append(`${prefix}A`, 'no_stream', [a, b]);
      await store.append(`${prefix}B`, 'no_stream', sampleEvents(2));
      for (const [stream, events] of [
        ['A', [b, a]],
        ['A', [a, sampleEvent()]],
        ['A', [a, b, sampleEvent()]],
        ['B', [a, b]],
      ] as const)
        expect(await failureOf(store.append(`${prefix}${stream}`, 'no_stream', events))).toBeInstanceOf(
          ConcurrencyError,
        );
      expect((await store.read(`${prefix}A`)).events).toHaveLength(2);
    },
  },
  {
    name: 'the position in the answer is that of the last event appended',
    check: async (store) => {
      const stream = `${newPrefix()}A`;
      const first = await store.append(stream, 'no_stream', sampleEvents(3));
      const second = await store.append(stream, 2n, sampleEvents(2));
      const { events } = await store.read(stream);
      expect([events[2]?.position, events[4]?.position]).toEqual([first.position, second.position]);
      expect(new Set(events.map(({ position }) => position)).size).toBe(5);
    },
  },
];
