import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { Audit } from '../../../application/audit/audit.ts';
import type { SqlAuditedRows } from '../../../application/audit/audited-rows.ts';
import type { SqlFrozenEvents } from '../../../application/audit/frozen-events.ts';
import { verifyLog } from '../../../application/audit/verify-log.ts';
import { DamagedStoreError } from '../../../application/ports/event-store.ts';
import type {
  EventStore,
  EventSubscription,
  JsonText,
  LogPosition,
  RecordedEvent,
} from '../../../application/ports/event-store.ts';
import { metadataOf } from '../../../application/event-codec/event-codec.ts';
import type { Difference } from '../../../application/audit/difference.ts';
import { numberOf } from '../../../application/projecting/projected-event.ts';
import { SqliteAuditNotes } from '../../../infrastructure/sqlite/audit-notes.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const unheard: unknown[] = [];
const hear = (reason: unknown): void => void unheard.push(reason);
beforeEach(() => void process.on('unhandledRejection', hear));
afterEach(() => void process.off('unhandledRejection', hear));

const loan = (number: number): RecordedEvent =>
  ({
    stream: `loan-app.${number}`,
    revision: 0n,
    position: String(number + 1) as LogPosition,
  }) as RecordedEvent;

const auditOf = (
  subscribe: EventSubscription['subscribe'],
  read: EventStore['read'] = async () => ({ events: [], revision: 'no_stream' }),
): Audit['verify'] =>
  verifyLog.bind(undefined, {
    events: { read, head: async () => 'no_stream', findClaim: async () => undefined },
    subscription: { subscribe },
    rows: { rowsOf: async () => new Map(), operationsIn: async () => [] } as unknown as SqlAuditedRows,
    frozen: { find: async () => new Map() } as unknown as SqlFrozenEvents,
    auditing: { projections: [], sandbox: true, apiVersion: '1' },
    readModels: [],
    seals: {
      book: { head: async () => undefined, page: async () => [], lastBegin: async () => 0 },
      keys: { find: async () => undefined },
      numberOf,
    },
    documents: { open: async () => undefined },
    clock: new ManualClock(),
    sleep: () => setTimeout(),
  });

/** Two batches: the second fails while the first has not come to its end. */
const failing = (first: Promise<void>): Audit['verify'] => {
  const events = Array.from({ length: 200 }, (_, number) => loan(number));
  const subscribe: EventSubscription['subscribe'] = async function* () {
    yield { kind: 'events', events, checkpoint: events.at(-1)!.position };
    yield { kind: 'caught_up' };
  };
  return auditOf(subscribe, async (stream) => {
    if (stream === loan(150).stream) throw new DamagedStoreError('the file is damaged');
    if (stream === loan(50).stream) await first;
    return { events: [], revision: 'no_stream' };
  });
};

test('a part that fails before its turn ends the audit, and nothing beside it', async () => {
  const first = Promise.withResolvers<void>();
  const ended = failing(first.promise)({ notes: new SqliteAuditNotes() }).next();
  // Rejections that nobody hears are told of after a turn of the event loop.
  await setTimeout();
  await setTimeout();
  first.resolve();
  await expect(ended).rejects.toThrow('the file is damaged');
  expect(unheard).toEqual([]);
});

test('an audit that goes on tells a damaged event once, of a stream that it reads a second time', async () => {
  const directory = temporaryDirectory();
  const path = join(directory, 'notes.db');
  const stop = new AbortController();
  const log = Array.from({ length: 2_500 }, (_, number) => loan(number));
  const bad = { ...log[2_010]!, type: 'loan.received.v1', data: '{}' as JsonText, metadata: metadataOf('{') };
  // Its notes are saved every 2,000 operations.
  const subscribe: EventSubscription['subscribe'] = async function* ({ from }) {
    for (const event of log.slice(Number(numberOf(from)))) {
      if (event === log[2_490]) stop.abort(new Error('stopped'));
      yield { kind: 'events', events: [event], checkpoint: event.position };
    }
    yield { kind: 'caught_up' };
  };
  let reads = 0;
  const run = async (signal: AbortSignal) => {
    const notes = new SqliteAuditNotes(path);
    const audit = auditOf(subscribe, async (stream) => {
      if (stream === bad.stream) reads += 1;
      return { events: stream === bad.stream ? [bad] : [], revision: 'no_stream' };
    })({ notes, signal, fundId: 'FUND' });
    const told: Difference[] = [];
    try {
      for (;;) {
        const next = await audit.next();
        if (next.done) return { told, counted: next.value.differences };
        told.push(next.value);
      }
    } finally {
      notes.close();
    }
  };
  await expect(run(stop.signal)).rejects.toThrow('stopped');
  const { told, counted } = await run(new AbortController().signal);
  expect(told.map(({ stream, what, found }) => [stream, what, found])).toEqual([
    [bad.stream, 'hash', ''],
    [bad.stream, bad.type, 'loan.received.v1: its metadata is not what was stored'],
  ]);
  expect([reads, counted]).toEqual([2, 2]);
});

test('a log that was silent before it had shown what its streams hold is asked again', async () => {
  const first = { ...loan(0), type: 'loan.received.v1', data: '{}' as JsonText, metadata: metadataOf('{') };
  const events = [first, { ...first, revision: 1n, position: '2' as LogPosition }];
  const given = [events.slice(0, 1), [], [], events.slice(1)];
  const subscribe: EventSubscription['subscribe'] = async function* () {
    const [event] = given.shift() ?? [];
    if (event) yield { kind: 'events', events: [event], checkpoint: event.position };
    yield { kind: 'caught_up' };
  };
  const audit = auditOf(subscribe, async () => ({ events, revision: 1n }));
  const kinds: string[] = [];
  for await (const { kind } of audit({ notes: new SqliteAuditNotes(), fundId: 'FUND' })) kinds.push(kind);
  expect(kinds).not.toContain('log');
  expect(given).toEqual([]);
});
