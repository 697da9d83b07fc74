import { describe, expect, test } from '@jest/globals';
import type { EventStore, RecordedEvent } from '../../../application/ports/event-store.ts';
import { EventTraces } from '../../../infrastructure/observability/tracing/event-traces.ts';

const REQUEST = '4bf92f35-77b3-4da6-a3ce-929d0e0e4736';
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const place = { eventId: 'e-1', applicationId: 'app', code: 'OP/1', sequence: 3 };
const recorded = (stream: string): RecordedEvent =>
  ({ stream, metadata: { correlationId: REQUEST } }) as RecordedEvent;

const tracesOver = (read: EventStore['read']) => {
  const reads: (readonly [string, bigint | undefined])[] = [];
  const traces = new EventTraces({
    read: (stream, from) => {
      reads.push([stream, from]);
      return read(stream, from);
    },
  });
  return { traces, reads };
};
const stored: EventStore['read'] = async (stream) => ({ events: [recorded(stream)], revision: 3n });

describe('the trace of an event', () => {
  test('is remembered from its passing by', async () => {
    const { traces, reads } = tracesOver(stored);
    traces.learn('e-1', recorded('loan-app.OP~2f1'));
    expect(await traces.find(place)).toBe(TRACE);
    expect(reads).toEqual([]);
  });

  test('is read once from its stream by a process that never saw it', async () => {
    const { traces, reads } = tracesOver(stored);
    expect(await traces.find(place)).toBe(TRACE);
    expect(await traces.find(place)).toBe(TRACE);
    expect(reads).toEqual([['loan-app.OP~2f1', 3n]]);
  });

  test('is unknown for a ping, for an event that is not there, and while the store is away', async () => {
    expect(await tracesOver(stored).traces.find({ ...place, code: null })).toBeUndefined();
    const empty = tracesOver(async () => ({ events: [], revision: 'no_stream' }));
    expect(await empty.traces.find(place)).toBeUndefined();
    const away = tracesOver(() => Promise.reject(new Error('away')));
    expect(await away.traces.find(place)).toBeUndefined();
  });
});
