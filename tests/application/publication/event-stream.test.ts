import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { decodeLoanEvent } from '../../../application/event-codec/event-codec.ts';
import type { EventSubscription, RecordedEvent } from '../../../application/ports/event-store.ts';
import { streamEvents } from '../../../application/publication/event-stream.ts';
import type { EventStreamQuery, StreamedEvent } from '../../../application/publication/event-stream.ts';
import { PublicEventTranslator } from '../../../application/publication/public-events.ts';
import { loanDecider } from '../../../domain/loan/index.ts';
import type { LoanCommand } from '../../../domain/loan/index.ts';
import type { FundId, LoanCode, Timestamp } from '../../../domain/shared/identifiers.ts';
import { receiveL1 } from '../../domain/support/loan-story.ts';
import { commandHandler } from '../../support/application-parts.ts';
import { InMemoryEventStore } from '../../support/in-memory-event-store.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const FUNDS = ['0b0e4a3c-6f57-4d0e-8a3b-1d2c3b4a5f60', '9f0c1e52-8a44-4b8e-9d64-0b7f6f1c2a10'] as const;

let store: InMemoryEventStore;
let parts: Parameters<typeof streamEvents>[0];
let hour: number;

const carryOut = async (application: string, code: string, command: LoanCommand): Promise<void> => {
  const clock = new ManualClock(`2026-06-20T${String(hour++).padStart(2, '0')}:00:00.000Z`);
  await commandHandler(store, clock).handle({
    stream: `loan-${application}.${code}`,
    applicationId: application,
    actor: 'client-1',
    correlationId: 'req',
    decide: (state) => loanDecider.decide(command, state),
  });
};

/** Recorded one an hour: A received, B received, A approved, B approved, A signed. */
beforeEach(async () => {
  store = new InMemoryEventStore();
  hour = 1;
  parts = {
    subscription: store,
    translator: new PublicEventTranslator({
      decode: decodeLoanEvent,
      events: store,
      funds: new Map(),
      apiVersion: '2026.6.0',
    }),
  };
  const now = '2026-06-20T12:00:00.000Z' as Timestamp;
  const received = (code: string, fund: string) => ({
    ...receiveL1,
    code: code as LoanCode,
    fundId: fund as FundId,
  });
  await carryOut('acme', 'A', received('A', FUNDS[0]));
  await carryOut('other', 'B', received('B', FUNDS[1]));
  await carryOut('acme', 'A', { type: 'ApproveLoan', now });
  await carryOut('other', 'B', { type: 'ApproveLoan', now });
  await carryOut('acme', 'A', { type: 'SignLoanTerm', now });
});

const read = async (query: Partial<EventStreamQuery> = {}): Promise<StreamedEvent[]> => {
  const events: StreamedEvent[] = [];
  for await (const one of streamEvents(parts, { follow: false, ...query }, new AbortController().signal))
    events.push(one);
  return events;
};
const names = (events: readonly StreamedEvent[]): string[] =>
  events.map(({ event }) => `${event.code} ${event.name.replace('loan_', '')}`);
const ALL = ['A received', 'B received', 'A approved', 'B approved', 'A term_signed'];
const at = (instant: string) => ({ kind: 'instant', instant: `2026-06-20T${instant}.000Z` }) as const;

describe('the event stream', () => {
  test('is all public events in the order of the log', async () => {
    expect(names(await read())).toEqual(ALL);
  });

  test('goes on after any event without repeating or leaving out one', async () => {
    const all = await read();
    for (const [i, { position, event }] of all.entries()) {
      expect(names(await read({ from: { kind: 'position', position } }))).toEqual(ALL.slice(i + 1));
      expect(names(await read({ from: { kind: 'event', id: event.eventId } }))).toEqual(ALL.slice(i + 1));
      expect(names(await read({ to: { kind: 'position', position } }))).toEqual(ALL.slice(0, i + 1));
    }
  });

  test('starts at an instant and ends before one', async () => {
    expect(names(await read({ from: at('02:00:00'), to: at('04:00:00') }))).toEqual(ALL.slice(1, 3));
    expect(names(await read({ from: at('04:30:00') }))).toEqual(ALL.slice(4));
  });

  test.each<[string, Partial<EventStreamQuery>, string[]]>([
    ['an application', { applicationId: 'acme' }, ['A received', 'A approved', 'A term_signed']],
    ['a fund', { fundId: FUNDS[1] }, ['B received', 'B approved']],
    ['an operation', { code: 'B' }, ['B received', 'B approved']],
    ['names', { names: ['loan_approved', 'loan_term_signed'] }, ALL.slice(2)],
  ])('can be narrowed to %s', async (_, query, expected) => {
    expect(names(await read(query))).toEqual(expected);
  });

  test('ends at a position even where its event is filtered out', async () => {
    const { position } = (await read())[3]!;
    expect(names(await read({ to: { kind: 'position', position }, applicationId: 'acme' }))).toEqual([
      'A received',
      'A approved',
    ]);
  });

  test('ends at a position whose stream is no operation', async () => {
    const [{ type, data, metadata }] = (await store.read('loan-acme.A')).events as [RecordedEvent];
    const elsewhere = { id: randomUUID(), type, data, metadata };
    const { position } = await store.append('renegotiation-1', 'no_stream', [elsewhere]);
    await carryOut('acme', 'C', { ...receiveL1, code: 'C' as LoanCode });
    expect(names(await read({ to: { kind: 'position', position } }))).toEqual(ALL);
  });

  test('holds nothing between a position and itself', async () => {
    const bound = { kind: 'position', position: (await read())[1]!.position } as const;
    expect(await read({ from: bound, to: bound })).toEqual([]);
  });

  test.each([true, false])(
    'hands out nothing beyond a position that lies before the start (follow: %s)',
    async (follow) => {
      const [early, late] = (await read()).map(({ position }) => ({ kind: 'position', position }) as const);
      const query = { follow, from: late!, to: early! };
      const reading = streamEvents(parts, query, new AbortController().signal);
      await expect(reading.next()).rejects.toMatchObject({
        code: 'invalid_query_parameter',
        message: `position ${early!.position} does not come after the start`,
      });
    },
  );

  test('follows until it is interrupted', async () => {
    const interruption = new AbortController();
    const seen: string[] = [];
    for await (const one of streamEvents(
      parts,
      { follow: true, names: ['loan_approved', 'loan_received'] },
      interruption.signal,
    )) {
      seen.push(names([one])[0]!);
      if (seen.length === 4) await carryOut('acme', 'C', { ...receiveL1, code: 'C' as LoanCode });
      if (seen.length === 5) interruption.abort();
    }
    expect(seen).toEqual([...ALL.slice(0, 4), 'C received']);
  });

  test('says so when there is no such position, before it hands out anything', async () => {
    const position = '99999' as StreamedEvent['position'];
    const { signal } = new AbortController();
    const upTo = streamEvents(parts, { follow: false, to: { kind: 'position', position } }, signal);
    await expect(upTo.next()).rejects.toMatchObject({
      code: 'invalid_query_parameter',
      message: expect.stringContaining('99999'),
    });
    const strange: EventSubscription = {
      subscribe: () => {
        throw new RangeError('no position of this store');
      },
    };
    const reading = streamEvents(
      { ...parts, subscription: strange },
      { follow: false, from: { kind: 'position', position } },
      signal,
    );
    await expect(reading.next()).rejects.toMatchObject({ code: 'invalid_query_parameter' });
  });

  test.each([true, false])(
    'goes on after no event that is gone, though others stand in its place (follow: %s)',
    async (follow) => {
      const gone = randomUUID();
      const reading = streamEvents(
        parts,
        { follow, from: { kind: 'event', id: gone } },
        new AbortController().signal,
      );
      await expect(reading.next()).rejects.toMatchObject({
        code: 'invalid_query_parameter',
        message: expect.stringContaining(`${gone} is none of an event in this log`),
      });
    },
  );

  test('asks a log with an index of ids where an event stands, and reads it from there alone', async () => {
    const all = await read();
    const stored: RecordedEvent[] = [];
    for (const stream of ['loan-acme.A', 'loan-other.B']) stored.push(...(await store.read(stream)).events);
    const elsewhere = { ...stored[0]!, id: randomUUID(), stream: 'desk-2026-06-20' };
    parts = { ...parts, byId: async (id) => [...stored, elsewhere].find((event) => event.id === id) };
    const subscribe = jest.spyOn(store, 'subscribe');
    const { eventId } = all[1]!.event;
    expect(names(await read({ from: { kind: 'event', id: eventId } }))).toEqual(ALL.slice(2));
    expect(subscribe.mock.calls.map(([{ from }]) => from)).toEqual([all[1]!.position]);
    for (const id of [randomUUID(), elsewhere.id])
      await expect(read({ from: { kind: 'event', id } })).rejects.toMatchObject({
        code: 'invalid_query_parameter',
      });
  });

  test('carries nothing of the borrower', async () => {
    const text = (await read()).map(({ event }) => event.body).join('\n');
    expect(text).not.toMatch(/borrower|document_number|email|phone/);
  });
});
