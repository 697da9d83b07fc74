import { beforeEach, expect, test } from '@jest/globals';
import { FOUR_EYES_STREAM, loanStream } from '../../../application/command-handling/operation.ts';
import { CHAIN_START, chainEvents } from '../../../application/event-codec/event-codec.ts';
import type { EventToAppend, JsonText, RecordedEvent } from '../../../application/ports/event-store.ts';
import type { Timestamp } from '../../../domain/shared/identifiers.ts';
import { fixedClock } from '../../support/application-parts.ts';
import { foundBeside } from '../../support/found-in-stream.ts';
import { InMemoryEventStore } from '../../support/in-memory-event-store.ts';
import {
  APPLICATION,
  ana,
  audited,
  bia,
  decide,
  deskOver,
  receive,
  ruleOf,
  second,
  setRule,
  told,
} from '../../support/two-people-desk.ts';

const STREAM = loanStream(APPLICATION, 'OP-1');
const DECISIONS = 'decision-acme.OP-1';
let store: InMemoryEventStore;
let minute: number;
/** A minute later each time that it is asked, so that no event is at the moment of a rule. */
const clock = {
  ...fixedClock(),
  now: () => new Date(Date.UTC(2026, 5, 20, 12, minute++)).toISOString() as Timestamp,
};
const desk = () => deskOver(store, clock);

beforeEach(async () => {
  minute = 0;
  store = new InMemoryEventStore();
  await receive(store, 'OP-1');
});

/** The same log, with this change of one stream, its chain made anew, as somebody with the file at hand could. */
const changed = async (
  stream: string,
  change: (events: readonly RecordedEvent[]) => readonly Omit<EventToAppend, 'metadata'>[],
): Promise<InMemoryEventStore> => {
  const after = new InMemoryEventStore();
  for (const one of [STREAM, DECISIONS, FOUR_EYES_STREAM]) {
    const { events } = await store.read(one);
    const wanted = (one === stream ? change(events) : events) as readonly EventToAppend[];
    const chained = chainEvents(
      CHAIN_START,
      one,
      wanted.map(({ id, type, data, metadata }) => ({ id, type, data, metadata })),
    );
    if (chained.length > 0) await after.append(one, 'no_stream', chained);
  }
  return after;
};
const edited = (at: number, from: string, to: string) => (events: readonly RecordedEvent[]) =>
  events.map((event, i) => (i === at ? { ...event, data: event.data.replace(from, to) as JsonText } : event));

const decidedByTwo = async (): Promise<void> => {
  await setRule(desk(), ruleOf('stated', ['approve', 0]), ana);
  await decide(desk(), 'approve', ana);
  expect(told(await second(desk(), 'confirm', bia))).toBe('applied');
};

test('decisions by one person before a rule, by two under it, and by one after it differ in nothing', async () => {
  await decide(desk(), 'approve', ana);
  await setRule(desk(), ruleOf('stated', ['sign_term', 0]), ana);
  await decide(desk(), 'sign_term', ana);
  await second(desk(), 'confirm', bia, { first: 'D-sign_term' });
  await setRule(desk(), ruleOf('stated'), ana, 'OFF');
  await second(desk(), 'confirm', bia, { first: 'OFF' });
  await decide(desk(), 'disburse', ana, { disbursement_date: '2026-06-20', disbursed_value: 10_000 });
  expect(await audited(store)).toEqual([]);
});

test('a decision by one person that was planted under a rule is found, in whatever clothes it comes', async () => {
  await decidedByTwo();
  const without = await changed(STREAM, (events) =>
    events.map((event, i) =>
      i === 1 ? { ...event, data: event.data.replace(/,"four_eyes":.*$/, '}}') as JsonText } : event,
    ),
  );
  expect(await audited(without)).toEqual([`${STREAM} @1 four_eyes`]);
  const asSandbox = await changed(STREAM, (events) =>
    events.map((event, i) => {
      if (i !== 1) return event;
      const { approved_at } = JSON.parse(event.data) as { approved_at: string };
      const metadata = {
        ...event.metadata,
        correlationId: `sandbox-${events[0]!.id}`,
        causationId: events[0]!.id,
      };
      return { ...event, data: JSON.stringify({ approved_at }) as JsonText, metadata };
    }),
  );
  expect(await audited(asSandbox)).toEqual([`${STREAM} @1 four_eyes`]);
  expect(await audited(asSandbox, 'OP-1', true)).toEqual([]);
});

test.each<
  [
    string,
    of: readonly [stream: string, at: number],
    change: readonly [from: string, to: string],
    readonly string[],
  ]
>([
  ['another second person', [STREAM, 1], ['"Bia"', '"Caio"'], [`${STREAM} @1 four_eyes`]],
  [
    'another version of the rule',
    [STREAM, 1],
    ['"rule_version":1', '"rule_version":2'],
    [`${STREAM} @1 four_eyes`],
  ],
  ['another first decision', [STREAM, 1], ['"D-approve"', '"D-other"'], [`${STREAM} @1 four_eyes`]],
  [
    'the same person twice',
    [DECISIONS, 1],
    ['"Bia"', '"ANA"'],
    [`${DECISIONS} @1 decision.confirmed.v1`, `${STREAM} @1 four_eyes`],
  ],
  [
    'weaker evidence',
    [DECISIONS, 0],
    ['"stated"', '"signed-in"'],
    [
      `${DECISIONS} @0 evidence`,
      `${DECISIONS} @0 decision.awaiting.v1`,
      `${DECISIONS} @1 decision.confirmed.v1`,
    ],
  ],
  [
    'a rule that was never made',
    [DECISIONS, 0],
    ['"rule_version":1', '"rule_version":9'],
    [`${DECISIONS} @0 rule_version`],
  ],
  ['another value', [DECISIONS, 0], ['"value":1000000', '"value":1'], [`${STREAM} @1 four_eyes`]],
])('%s is found', async (_, [stream, at], [from, to], found) => {
  await decidedByTwo();
  const after = await changed(stream, edited(at, from, to));
  expect(await audited(after)).toEqual(found);
});

test('so is a confirmation that is missing, and one of what happened meanwhile', async () => {
  await decidedByTwo();
  expect(await audited(await changed(DECISIONS, (events) => events.slice(0, 1)))).toEqual([
    `${STREAM} @1 four_eyes`,
  ]);
  const forgotten = (event: RecordedEvent) => ({
    ...{ ...event, id: '00000000-0000-4000-8000-00000000000f', type: 'loan.borrower_forgotten.v1' },
    data: JSON.stringify({ forgotten_at: event.metadata.recordedAt }) as JsonText,
  });
  const between = await changed(STREAM, ([first, ...rest]) => [first!, forgotten(first!), ...rest]);
  expect(await audited(between)).toEqual([`${STREAM} @2 four_eyes`]);
});

test('rules are decided again: a version too far, and a weaker one that nobody confirmed', async () => {
  await setRule(desk(), ruleOf('stated', ['approve', 0]), ana);
  await setRule(desk(), ruleOf('stated'), ana, 'OFF');
  await second(desk(), 'confirm', bia, { first: 'OFF' });
  const { events } = await store.read(FOUR_EYES_STREAM);
  expect(foundBeside(FOUR_EYES_STREAM, events)).toEqual([]);
  const of = async (change: Parameters<typeof changed>[1]) => {
    const { events: now } = await (await changed(FOUR_EYES_STREAM, change)).read(FOUR_EYES_STREAM);
    return foundBeside(FOUR_EYES_STREAM, now)!.map(
      ({ kind, revision, what }) => `${kind} @${revision} ${what}`,
    );
  };
  expect(await of(edited(0, '"version":1', '"version":2'))).toEqual([
    'decision @0 fund.four_eyes_set.v1',
    'decision @2 fund.four_eyes_set.v1',
  ]);
  expect(await of(edited(2, ',"proposal_id":"OFF"', ''))).toHaveLength(1);
  expect(await of(edited(2, '"Bia"', '"ana"'))).toEqual(['decision @2 fund.four_eyes_set.v1']);
});
