import { beforeEach, expect, test } from '@jest/globals';
import { auditDesk } from '../../../application/audit/beside-operations.ts';
import { DESK_DAYS_STREAM } from '../../../application/desk/desk-streams.ts';
import { CHAIN_START, chainEvents } from '../../../application/event-codec/event-codec.ts';
import type { JsonText, RecordedEvent } from '../../../application/ports/event-store.ts';
import { deskOver } from '../../support/desk-over.ts';
import { InMemoryEventStore } from '../../support/in-memory-event-store.ts';

const STREAM = 'desk-session-1';
let [lines, days]: (readonly RecordedEvent[])[] = [];
beforeEach(async () => {
  const events = new InMemoryEventStore();
  const desk = deskOver({ events });
  for (const action of ['signed_in', 'viewed', 'signed_out'] as const)
    await desk.record({ way: 'console', name: 'Ana' }, [{ action }], 'session-1');
  lines = (await events.read(STREAM)).events;
  days = (await events.read(DESK_DAYS_STREAM)).events;
});

/** With this change of one event, the whole chain made anew, as somebody with the file at hand could. */
const foundAfter = (
  stream: string,
  events: readonly RecordedEvent[],
  change: (event: RecordedEvent) => Partial<RecordedEvent>,
) => {
  const changed = events.map((event, i) =>
    i === events.length - 1 ? { ...event, ...change(event) } : event,
  );
  const chained = chainEvents(CHAIN_START, stream, changed);
  const found = auditDesk(
    stream,
    chained.map((event, i) => ({ ...changed[i]!, ...event })),
  );
  return found.map(({ kind, revision, what }) => `${kind} @${revision} ${what}`);
};

test('lines as they were written differ in nothing', () => {
  expect([...auditDesk(STREAM, lines!), ...auditDesk(DESK_DAYS_STREAM, days!)]).toEqual([]);
});

test('a line that was changed breaks the chain', () => {
  const [first, ...rest] = lines!;
  const changed = { ...first!, data: first!.data.replace('Ana', 'Eva') as JsonText };
  expect(auditDesk(STREAM, [changed, ...rest])).toMatchObject([{ kind: 'chain', revision: 0, what: 'hash' }]);
});

test('a field that no line has, another time, and an event of another kind are found', () => {
  const more = ({ data }: RecordedEvent) => ({ data: data.replace('{', '{"borrower":"Joana",') as JsonText });
  expect(foundAfter(STREAM, lines!, more)).toEqual(['event @2 desk.line_written.v1']);
  const later = ({ metadata }: RecordedEvent) => ({
    metadata: { ...metadata, recordedAt: '2027-01-01T00:00:00.000Z' },
  });
  expect(foundAfter(STREAM, lines!, later)).toEqual(['event @2 metadata.recordedAt']);
  const [day] = days!;
  expect(foundAfter(STREAM, lines!, () => ({ type: day!.type, data: day!.data }))).toEqual([
    'event @2 desk.day_begun.v1',
  ]);
  expect(foundAfter(STREAM, lines!, () => ({ type: 'desk.line_written.v9' }))).toEqual([
    'event @2 desk.line_written.v9',
  ]);
});
