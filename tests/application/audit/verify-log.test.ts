import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { SqlAuditedRows } from '../../../application/audit/audited-rows.ts';
import type { SqlFrozenEvents } from '../../../application/audit/frozen-events.ts';
import { VerifyLog } from '../../../application/audit/verify-log.ts';
import { DamagedStoreError } from '../../../application/ports/event-store.ts';
import type { LogPosition, RecordedEvent } from '../../../application/ports/event-store.ts';
import { SqliteAuditNotes } from '../../../infrastructure/sqlite/audit-notes.ts';
import { ManualClock } from '../../support/manual-clock.ts';

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

/** Two batches: the second fails while the first has not come to its end. */
const failing = (first: Promise<void>): VerifyLog => {
  const events = Array.from({ length: 200 }, (_, number) => loan(number));
  const read = async (stream: string) => {
    if (stream === loan(150).stream) throw new DamagedStoreError('the file is damaged');
    if (stream === loan(50).stream) await first;
    return { events: [], revision: 'no_stream' } as const;
  };
  return new VerifyLog({
    events: { read, head: async () => 'no_stream', findClaim: async () => undefined },
    subscription: {
      subscribe: async function* () {
        yield { kind: 'events', events, checkpoint: events.at(-1)!.position };
        yield { kind: 'caught_up' };
      },
    },
    rows: { rowsOf: async () => new Map() } as unknown as SqlAuditedRows,
    frozen: { find: async () => new Map() } as unknown as SqlFrozenEvents,
    auditing: { projections: [], sandbox: true, apiVersion: '1' },
    readModels: [],
    seals: {
      book: { head: async () => undefined, page: async () => [], lastBegin: async () => 0 },
      keys: { find: async () => undefined },
      numberOf: () => 0n,
    },
    documents: { open: async () => undefined },
    clock: new ManualClock(),
    pause: async () => undefined,
    sleep: () => setTimeout(),
  });
};

test('a part that fails before its turn ends the audit, and nothing beside it', async () => {
  const first = Promise.withResolvers<void>();
  const ended = failing(first.promise).execute({ notes: new SqliteAuditNotes() }).next();
  // Rejections that nobody hears are told of after a turn of the event loop.
  await setTimeout();
  await setTimeout();
  first.resolve();
  await expect(ended).rejects.toThrow('the file is damaged');
  expect(unheard).toEqual([]);
});
