import { describe, expect, test } from '@jest/globals';
import type { OperationMark, PublicEvent } from '../../../application/ports/event-bus.ts';
import { PoisonEventError } from '../../../application/processors/processor.ts';
import { eventOf, freshEvents, markAfter, recordOf } from '../../../infrastructure/kafka/records.ts';
import type { KafkaRecord } from '../../../infrastructure/kafka/records.ts';

const event = (code: string, sequence: number, eventId = `${code}-${sequence}`): PublicEvent => ({
  eventId,
  name: 'installment_settled',
  applicationId: 'app',
  fundId: 'fund',
  code,
  sequence,
  timestamp: '2026-01-15T12:00:00.000Z',
  body: '{}',
});

const fresh = async (events: readonly PublicEvent[], marks: readonly OperationMark[] = []) => {
  const asked: string[] = [];
  const stored = new Map(marks.map((mark) => [mark.operation, mark]));
  const result = await freshEvents(events, 'group', {
    marks: async (_, operations) => {
      asked.push(...operations);
      return stored;
    },
  });
  const late = result.late && [result.late.event.eventId, result.late.newest];
  // What their marks say besides was handled stands in handled-events.test.ts.
  const operations = result.operations.map(({ handled: _, ...mark }) => mark);
  return {
    ids: result.events.map(({ eventId }) => eventId),
    operations,
    marks: result.operations,
    asked,
    late,
  };
};

describe('repetitions are left out', () => {
  test('nothing is known of a new operation', async () => {
    const { ids, operations, asked } = await fresh([event('A', 0), event('B', 3), event('A', 2)]);
    expect(ids).toEqual(['A-0', 'B-3', 'A-2']);
    expect(asked).toEqual(['app.A', 'app.B']);
    expect(operations).toEqual([
      { operation: 'app.A', sequence: 2, eventIds: ['A-2'] },
      { operation: 'app.B', sequence: 3, eventIds: ['B-3'] },
    ]);
  });

  test('what stands at or before the newest handled event was handled', async () => {
    const mark = { operation: 'app.A', sequence: 2, eventIds: ['A-2'] };
    const { ids, operations } = await fresh([event('A', 1), event('A', 2), event('A', 3)], [mark]);
    expect(ids).toEqual(['A-3']);
    expect(operations).toEqual([{ operation: 'app.A', sequence: 3, eventIds: ['A-3'] }]);
  });

  test('a stretch that is repeated within one batch counts once', async () => {
    const stretch = [event('A', 1), event('A', 2)];
    expect((await fresh([...stretch, ...stretch, event('A', 3)])).ids).toEqual(['A-1', 'A-2', 'A-3']);
  });

  test('several events of one stored event are all new, also when a batch ends between them', async () => {
    const pair = [event('A', 2, 'first'), event('A', 2, 'second')];
    expect((await fresh(pair)).ids).toEqual(['first', 'second']);
    const mark = { operation: 'app.A', sequence: 2, eventIds: ['first'] };
    const rest = await fresh(pair, [mark]);
    expect(rest.ids).toEqual(['second']);
    expect(rest.operations).toEqual([{ operation: 'app.A', sequence: 2, eventIds: ['first', 'second'] }]);
  });

  test('what comes after later events and was not handled is late, not a repetition', async () => {
    const { marks } = await fresh([event('A', 1), event('A', 2), event('A', 5)]);
    const again = await fresh([event('A', 2), event('A', 3), event('A', 5), event('A', 6)], marks);
    expect(again.ids).toEqual(['A-6']);
    expect(again.late).toEqual(['A-3', 5]);
  });

  test('once it is noted as handled it is a repetition, and what is newest stays', async () => {
    const { marks } = await fresh([event('A', 1), event('A', 5)]);
    const noted = markAfter(marks[0], 'app.A', event('A', 3));
    expect(noted).toMatchObject({ sequence: 5, eventIds: ['A-5'] });
    const again = await fresh([event('A', 3), event('A', 4), event('A', 6)], [noted]);
    expect([again.ids, again.late]).toEqual([['A-6'], ['A-4', 5]]);
  });

  test('so is another event under a number that was handled', async () => {
    const { marks } = await fresh([event('A', 1), event('A', 2)]);
    expect((await fresh([event('A', 1, 'another')], marks)).late).toEqual(['another', 2]);
  });

  test('a mark of a release that kept the newest event alone calls nothing late', async () => {
    const mark = { operation: 'app.A', sequence: 9, eventIds: ['A-9'] };
    expect(await fresh([event('A', 1), event('A', 9)], [mark])).toMatchObject({ ids: [], late: undefined });
  });

  test('a batch of repetitions leaves nothing to remember', async () => {
    const mark = { operation: 'app.A', sequence: 9, eventIds: ['A-9'] };
    expect(await fresh([event('A', 1)], [mark])).toMatchObject({ ids: [], operations: [] });
  });
});

describe('a message that is no event is refused with its offset', () => {
  const body = { event_id: 'e', event: 'n', fund_id: 'f', originator_proposal_code: 'c', timestamp: 't' };
  const record = (value: Buffer | null, headers: Readonly<Record<string, string>>): KafkaRecord =>
    recordOf('receivables.events', 2, {
      ...{ offset: '41', key: null, value, headers, timestamp: '0', attributes: 0 },
    });
  const headers = { schema_version: '1', application_id: 'app' };
  const readable = Buffer.from(JSON.stringify({ ...body, sequence: 1 }));

  test('one that is an event keeps its text', () => {
    expect(eventOf(record(readable, headers)).body).toBe(readable.toString());
  });

  test.each<readonly [flaw: string, value: Buffer | null, headers: Readonly<Record<string, string>>]>([
    ['no value', null, headers],
    ['bytes that are no text', Buffer.from([0x7b, 0xff, 0xfe]), headers],
    ['no JSON', Buffer.from('{"event_id"'), headers],
    ['a list', Buffer.from('[]'), headers],
    ['no sequence', Buffer.from(JSON.stringify(body)), headers],
    ['a later version', readable, { ...headers, schema_version: '2' }],
    ['no headers', readable, {}],
  ])('%s', (_, value, given) => {
    const refusal = expect.objectContaining({ event: expect.objectContaining({ partition: 2, offset: 41 }) });
    expect(() => eventOf(record(value, given))).toThrow(PoisonEventError);
    expect(() => eventOf(record(value, given))).toThrow(refusal);
  });
});
