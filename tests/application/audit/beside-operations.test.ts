import { beforeEach, expect, test } from '@jest/globals';
import { auditFundNames } from '../../../application/audit/beside-operations.ts';
import { FUND_NAMES_STREAM } from '../../../application/command-handling/operation.ts';
import { CHAIN_START, chainEvents } from '../../../application/event-codec/event-codec.ts';
import type { JsonText, RecordedEvent } from '../../../application/ports/event-store.ts';
import { fundsOver } from '../../support/funds-over.ts';
import { InMemoryEventStore } from '../../support/in-memory-event-store.ts';

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

/** With this change of one event, the whole chain made anew, as somebody with the file at hand could. */
const foundAfter = (revision: number, change: (event: RecordedEvent) => Partial<RecordedEvent>) => {
  const changed = events.map((event, i) => (i === revision ? { ...event, ...change(event) } : event));
  const chained = chainEvents(CHAIN_START, FUND_NAMES_STREAM, changed);
  const found = auditFundNames(
    FUND_NAMES_STREAM,
    chained.map((event, i) => ({ ...changed[i]!, ...event })),
  );
  return found.map(({ kind, revision: at, what }) => `${kind} @${at} ${what}`);
};
const renamed = (from: string, to: string) => (event: RecordedEvent) => ({
  data: event.data.replace(from, to) as JsonText,
});

test('names as they were given differ in nothing', () => {
  expect(auditFundNames(FUND_NAMES_STREAM, events)).toEqual([]);
});

test('a chain that does not hold is a difference', () => {
  const [first, ...others] = events;
  const changed = { ...first!, data: first!.data.replace('Aurora', 'Borealis') as JsonText };
  expect(auditFundNames(FUND_NAMES_STREAM, [changed, ...others])).toMatchObject([
    { kind: 'chain', revision: 0, what: 'hash' },
  ]);
});

test.each([
  ['the name of another fund', 1, renamed('Boreal', 'AURORA')],
  ['a name against the rules', 1, renamed('Boreal', ' ')],
  ['the name that it had', 2, renamed('Austral', 'Aurora')],
] as const)('%s is a difference, whoever made the chain fit', (_, revision, change) => {
  expect(foundAfter(revision, change)).toEqual([`decision @${revision} fund.named.v1`]);
});

test('so are another fund in the metadata and an event of another kind', () => {
  expect(foundAfter(0, ({ metadata }) => ({ metadata: { ...metadata, fundId: B } }))).toEqual([
    'decision @0 metadata.fundId',
  ]);
  expect(foundAfter(2, () => ({ type: 'loan.approved.v1' }))).toEqual(['event @2 loan.approved.v1']);
});
