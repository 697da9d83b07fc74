import { beforeEach, describe, expect, test } from '@jest/globals';
import { FUND_NAMES_STREAM } from '../../../application/command-handling/operation.ts';
import { DESK_DAYS_STREAM } from '../../../application/desk/desk-streams.ts';
import { CHAIN_START, chainEvents } from '../../../application/event-codec/event-codec.ts';
import type { JsonText, RecordedEvent } from '../../../application/ports/event-store.ts';
import { deskOver } from '../../support/desk-over.ts';
import { foundBeside } from '../../support/found-in-stream.ts';
import { fundsOver } from '../../support/funds-over.ts';
import { InMemoryEventStore } from '../../support/in-memory-event-store.ts';

type Change = (event: RecordedEvent) => Partial<RecordedEvent>;

/** With this change of one event, the whole chain made anew, as somebody with the file at hand could. */
const foundAfter = (stream: string, events: readonly RecordedEvent[], at: number, change: Change) => {
  const changed = events.map((event, i) => (i === at ? { ...event, ...change(event) } : event));
  const chained = chainEvents(CHAIN_START, stream, changed);
  const found = foundBeside(
    stream,
    chained.map((event, i) => ({ ...changed[i]!, ...event })),
  );
  return found!.map(({ kind, revision, what }) => `${kind} @${revision} ${what}`);
};

describe('names of funds', () => {
  const A = '0b0e4a3c-6f57-4d0e-8a3b-1d2c3b4a5f60';
  const B = '1b0e4a3c-6f57-4d0e-8a3b-1d2c3b4a5f61';
  let events: readonly RecordedEvent[];
  beforeEach(async () => {
    const store = new InMemoryEventStore();
    const funds = fundsOver({ events: store });
    for (const [fundId, name] of [
      [A, 'Aurora'],
      [B, 'Boreal'],
      [A, 'Austral'],
    ] as const)
      await funds.name({ fundId, name, operator: 'Ana' });
    events = (await store.read(FUND_NAMES_STREAM)).events;
  });

  const renamed = (from: string, to: string) => (event: RecordedEvent) => ({
    data: event.data.replace(from, to) as JsonText,
  });

  test('names as they were given differ in nothing', () => {
    expect(foundBeside(FUND_NAMES_STREAM, events)).toEqual([]);
  });

  test('a chain that does not hold is a difference', () => {
    const [first, ...others] = events;
    const changed = { ...first!, data: first!.data.replace('Aurora', 'Borealis') as JsonText };
    expect(foundBeside(FUND_NAMES_STREAM, [changed, ...others])).toMatchObject([
      { kind: 'chain', revision: 0, what: 'hash' },
    ]);
  });

  test.each([
    ['the name of another fund', 1, renamed('Boreal', 'AURORA')],
    ['a name against the rules', 1, renamed('Boreal', ' ')],
    ['the name that it had', 2, renamed('Austral', 'Aurora')],
  ] as const)('%s is a difference, whoever made the chain fit', (_, revision, change) => {
    expect(foundAfter(FUND_NAMES_STREAM, events, revision, change)).toEqual([
      `decision @${revision} fund.named.v1`,
    ]);
  });

  test('so are another fund in the metadata and an event of another kind', () => {
    expect(
      foundAfter(FUND_NAMES_STREAM, events, 0, ({ metadata }) => ({ metadata: { ...metadata, fundId: B } })),
    ).toEqual(['decision @0 metadata.fundId']);
    expect(foundAfter(FUND_NAMES_STREAM, events, 2, () => ({ type: 'loan.approved.v1' }))).toEqual([
      'event @2 loan.approved.v1',
    ]);
  });
});

describe('the desk log', () => {
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

  test('lines as they were written differ in nothing', () => {
    expect(foundBeside(STREAM, lines!)).toEqual([]);
    expect(foundBeside(DESK_DAYS_STREAM, days!)).toEqual([]);
  });

  test('a line that was changed breaks the chain', () => {
    const [first, ...rest] = lines!;
    const changed = { ...first!, data: first!.data.replace('Ana', 'Eva') as JsonText };
    expect(foundBeside(STREAM, [changed, ...rest])).toMatchObject([
      { kind: 'chain', revision: 0, what: 'hash' },
    ]);
  });

  test('a field that no line has, another time, and an event of another kind are found', () => {
    const more = ({ data }: RecordedEvent) => ({
      data: data.replace('{', '{"borrower":"Joana",') as JsonText,
    });
    expect(foundAfter(STREAM, lines!, 2, more)).toEqual(['event @2 desk.line_written.v1']);
    const later = ({ metadata }: RecordedEvent) => ({
      metadata: { ...metadata, recordedAt: '2027-01-01T00:00:00.000Z' },
    });
    expect(foundAfter(STREAM, lines!, 2, later)).toEqual(['event @2 metadata.recordedAt']);
    const [day] = days!;
    expect(foundAfter(STREAM, lines!, 2, () => ({ type: day!.type, data: day!.data }))).toEqual([
      'event @2 desk.day_begun.v1',
    ]);
    expect(foundAfter(STREAM, lines!, 2, () => ({ type: 'desk.line_written.v9' }))).toEqual([
      'event @2 desk.line_written.v9',
    ]);
  });
});

test('any other stream is audited elsewhere', () => {
  expect(foundBeside('loan-acme.OP-1', [])).toBeUndefined();
});
