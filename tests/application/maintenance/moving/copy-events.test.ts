import { describe, expect, test } from '@jest/globals';
import { CHAIN_START, chainEvents } from '../../../../application/event-codec/event-codec.ts';
import { verifyEvents } from '../../../../application/maintenance/moving/copy-events.ts';
import type { EventToAppend, JsonText, LogPosition } from '../../../../application/ports/event-store.ts';
import type { EventToMove, LogToMove } from '../../../../application/maintenance/moving/what-moves.ts';
import { InMemoryEventStore } from '../../../support/in-memory-event-store.ts';

/** One event in each of these streams, in this order. */
const logOf = (
  streams: readonly string[],
  before: (event: EventToAppend) => EventToAppend,
): { readonly log: LogToMove; readonly events: readonly EventToMove[] } => {
  const events = streams.map((stream, index): EventToMove => {
    const metadata = {
      ...{ correlationId: 'r', causationId: 'r', actor: 'c', applicationId: 'app-1' },
      recordedAt: '2026-01-01T00:00:00.000Z',
    };
    const id = `00000000-0000-7000-8000-00000000000${index}`;
    const [event] = chainEvents(CHAIN_START, stream, [
      { id, type: 'something.happened.v1', data: '{}' as JsonText, metadata },
    ]);
    return {
      event: { ...before(event!), stream, revision: 0n, position: String(index + 1) as LogPosition },
      at: index + 1,
      previousHash: undefined,
      claim: undefined,
    };
  });
  const log: LogToMove = {
    counts: () => ({ events: events.length, streams: events.length, claims: 0 }),
    page: (after, limit) => events.slice(after, after + limit),
    find: (id) => events.find(({ event }) => event.id === id),
    lastAt: Number,
    claims: () => [],
  };
  return { log, events };
};

/** Reads a new log into which these events came, in the order of their numbers. */
const verify = async (
  streams: readonly string[],
  order: readonly number[],
  {
    cuts = [],
    change = (event) => event,
    before = (event) => event,
  }: {
    readonly cuts?: readonly number[];
    readonly change?: (event: EventToAppend) => EventToAppend;
    /** Done to the old log itself. */
    readonly before?: (event: EventToAppend) => EventToAppend;
  } = {},
) => {
  const { log, events } = logOf(streams, before);
  const store = new InMemoryEventStore();
  for (const at of order) {
    const { stream, id, type, data, metadata } = events[at - 1]!.event;
    await store.append(stream, 'no_stream', [change({ id, type, data, metadata })]);
  }
  return verifyEvents({ log, subscription: store }, new Set(cuts), () => undefined);
};

const LOANS = ['loan-a', 'loan-b', 'loan-c', 'loan-d'];
const WITH_RENEGOTIATION = ['loan-a', 'loan-b', 'renegotiation-1', 'loan-d'];

describe('verifying a log that was moved', () => {
  test('operations may change places among each other', async () => {
    expect((await verify(LOANS, [2, 1, 4, 3])).size).toBe(0);
  });

  test('says where the followers go on', async () => {
    const places = await verify(LOANS, [2, 1, 3, 4], { cuts: [3] });
    expect([...places.keys()]).toEqual([3]);
  });

  test.each([
    ['an event from before a cut after it', LOANS, [1, 3, 2, 4], [3]],
    ['an event from after a cut before it', LOANS, [1, 2, 4, 3], [3]],
    ['an operation that overtakes a renegotiation', WITH_RENEGOTIATION, [1, 2, 4, 3], []],
    ['an operation that falls behind a renegotiation', WITH_RENEGOTIATION, [1, 3, 2, 4], []],
  ])('refuses %s', async (_, streams, order, cuts) => {
    await expect(verify(streams, order, { cuts })).rejects.toThrow('out of order');
  });

  test('refuses a log that lacks an event', async () => {
    await expect(verify(LOANS, [1, 2, 4])).rejects.toThrow('has 3 events of 4');
  });

  test('refuses another text, and a hash that does not follow', async () => {
    const otherText = (event: EventToAppend) => ({ ...event, data: '{"a":1}' as JsonText });
    await expect(verify(LOANS, [1, 2, 3, 4], { change: otherText })).rejects.toThrow(
      'differs from what was moved',
    );
    const otherActor = (event: EventToAppend) => ({ ...event, metadata: { ...event.metadata, actor: 'x' } });
    await expect(verify(LOANS, [1, 2, 3, 4], { change: otherActor })).rejects.toThrow(
      'differs from what was moved: loan-a 0, field metadata.actor',
    );
    await expect(verify(LOANS, [1, 2, 3, 4], { before: otherActor })).rejects.toThrow(
      'hash chain does not hold at loan-a 0',
    );
  });

  test('refuses an event that was never there', async () => {
    const otherId = (event: EventToAppend) => ({ ...event, id: event.id.replace('7000', '7001') });
    await expect(verify(LOANS, [1], { change: otherId })).rejects.toThrow('never moved');
  });
});
