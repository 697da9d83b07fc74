import { describe, expect, test } from '@jest/globals';
import type { PublicEvent } from '../../../application/ports/event-bus.ts';
import type { EventStore, LogPosition, RecordedEvent } from '../../../application/ports/event-store.ts';
import { TracedEvents, NO_TRACER } from '../../../infrastructure/observability/tracing/tracer.ts';

const REQUEST = '4bf92f35-77b3-4da6-a3ce-929d0e0e4736';
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const event = { eventId: 'e-1', applicationId: 'app', code: 'OP/1', sequence: 3 } as PublicEvent;
const recorded = (stream: string): RecordedEvent =>
  ({ stream, metadata: { correlationId: REQUEST } }) as RecordedEvent;

const tracesOver = (read: EventStore['read']) => {
  const reads: (readonly [string, bigint | undefined])[] = [];
  const shown: string[] = [];
  const events: Pick<EventStore, 'read'> = {
    read: (stream, from) => {
      reads.push([stream, from]);
      return read(stream, from);
    },
  };
  const tracer = { ...NO_TRACER, record: ({ traceId }: { traceId: string }) => void shown.push(traceId) };
  const traced = new TracedEvents(events, tracer);
  const consume = async (one: PublicEvent): Promise<void> => {
    traced.consumed('fan-out', [one], 0);
    await new Promise(setImmediate);
  };
  return { traced, consume, reads, shown };
};
const stored: EventStore['read'] = async (stream) => ({ events: [recorded(stream)], revision: 3n });

describe('the trace of an event', () => {
  test('is remembered from its passing by', async () => {
    const { traced, consume, reads, shown } = tracesOver(stored);
    const position = '7' as LogPosition;
    traced.translated([{ ...recorded('loan-app.OP~2f1'), position }], [{ ...event, position }]);
    await consume(event);
    expect(shown).toEqual([TRACE]);
    expect(reads).toEqual([]);
  });

  test('is read once from its stream by a process that never saw it', async () => {
    const { consume, reads, shown } = tracesOver(stored);
    await consume(event);
    await consume(event);
    expect(shown).toEqual([TRACE, TRACE]);
    expect(reads).toEqual([['loan-app.OP~2f1', 3n]]);
  });

  test('is unknown for a ping, for an event that is not there, and while the store is away', async () => {
    const ping = tracesOver(stored);
    await ping.consume({ ...event, code: null as never });
    const empty = tracesOver(async () => ({ events: [], revision: 'no_stream' }));
    await empty.consume(event);
    const away = tracesOver(() => Promise.reject(new Error('away')));
    await away.consume(event);
    expect([ping.shown, empty.shown, away.shown]).toEqual([[], [], []]);
  });
});
