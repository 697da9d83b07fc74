import { describe, expect, test } from '@jest/globals';
import { DecisionCheck } from '../../../application/audit/check-decisions.ts';
import { decodeOperation } from '../../../application/audit/stored-events.ts';
import type { Difference } from '../../../application/audit/difference.ts';
import { explainPrice } from '../../../application/audit/explained-price.ts';
import { loanStream } from '../../../application/command-handling/operation.ts';
import { encodeEvent } from '../../../application/event-codec/event-codec.ts';
import type { RecordedEvent } from '../../../application/ports/event-store.ts';
import { loanDecider } from '../../../domain/loan/index.ts';
import type { LoanEvent, LoanState, RepurchaseReason } from '../../../domain/loan/index.ts';
import { addDays } from '../../../domain/shared/calendar-date.ts';
import type { Timestamp } from '../../../domain/shared/identifiers.ts';
import { stateAfter } from '../../../domain/shared/decider.ts';
import { centsOf } from '../../domain/support/finance-vectors.ts';
import {
  approved,
  becameOverdue,
  disbursed,
  disbursedLongAgo,
  installmentCode,
  paid,
  prepay,
  receiveL1,
  received,
  requestRepurchase,
  termSigned,
} from '../../domain/support/loan-story.ts';

const stream = loanStream(receiveL1.applicationId, receiveL1.code);

/** What the audit says of a stream of these events. */
const audit = (events: readonly LoanEvent[], fundIds: readonly string[] = []): readonly Difference[] => {
  const differences: Difference[] = [];
  const check = new DecisionCheck(stream, (difference) => void differences.push(difference));
  const recorded = events.map(
    (event, i) =>
      ({
        stream,
        revision: BigInt(i),
        ...encodeEvent(event),
        metadata: fundIds[i] === undefined ? {} : { fundId: fundIds[i] },
      }) as RecordedEvent,
  );
  for (const one of decodeOperation(recorded, () => undefined)) check.take(one);
  check.end(stream, events.length - 1);
  return differences;
};

const partlyPaid = (disbursement: LoanEvent): readonly LoanEvent[] => [
  ...[received, approved, termSigned, disbursement],
  paid('001'),
];
const given = { disbursedValue: centsOf('9900.00') };
const ruled = partlyPaid({ ...disbursed, ...given });
const unruled = partlyPaid({ ...disbursedLongAgo, ...given });

const exit = (events: readonly LoanEvent[], reason: RepurchaseReason): LoanEvent =>
  loanDecider.decide(requestRepurchase(reason), stateAfter(loanDecider, events))[0]!;
const basisOf = (event: LoanEvent, before: LoanState) => explainPrice(event, before)?.basis;

test('a leftover below zero is right as it was recorded: with a line under the rule of before, without one now', () => {
  const before = [
    ...[received, approved, termSigned, disbursed],
    ...['001', '002', '003', '004', '005'].map((code) => paid(code)),
  ];
  const prepaid = (leftover?: 'told'): LoanEvent =>
    loanDecider.decide(
      { ...prepay('3403.15'), ...(leftover && { leftover }) },
      stateAfter(loanDecider, before),
    )[0]!;
  const [told, carried] = [prepaid('told'), prepaid()];
  expect([told, carried].map((event) => 'lines' in event && event.lines.length)).toEqual([5, 4]);
  expect([audit([...before, told]), audit([...before, carried])]).toEqual([[], []]);
});

test('a fund beside an event that is not the operation’s own is a difference', () => {
  const { fundId } = receiveL1;
  const events = [received, approved, termSigned];
  expect(audit(events, [fundId, fundId, fundId])).toEqual([]);
  expect(audit(events, [fundId, 'another'])).toEqual([
    { kind: 'decision', stream, revision: 1, what: 'metadata.fundId', expected: fundId, found: 'another' },
  ]);
});

test('an overdue mark is decided again for its own installment; one of an unknown installment is a difference', () => {
  const active = [received, approved, termSigned, disbursed];
  expect(audit([...active, becameOverdue('001')])).toEqual([]);
  expect(audit([...active, paid('001'), becameOverdue('002')])).toEqual([]);
  const unknown = { ...becameOverdue('001'), installmentCode: installmentCode('099') };
  for (const strange of [[paid('001'), becameOverdue('001')], [unknown]])
    expect(audit([...active, ...strange])).toMatchObject([
      { what: 'rule', expected: 'nothing causes it in status active' },
    ]);
});

test('an overdue mark counts from the day after the due date on, as days begin in Sao Paulo', () => {
  const active = [received, approved, termSigned, disbursed];
  const mark = becameOverdue('001');
  const dayAfter = addDays(mark.dueDate, 1);
  const at = (time: string) => ({ ...mark, recordedAt: `${dayAfter}T${time}Z` as Timestamp });
  expect(audit([...active, at('03:00:00.000')])).toEqual([]);
  expect(audit([...active, at('02:59:59.999')])).toMatchObject([
    { what: 'rule', expected: 'nothing causes it in status active' },
  ]);
});

describe.each(['cession_reversal', 'resolution'] as const)('the price of a %s', (reason) => {
  test.each([
    ['that is recorded with the disbursement', ruled, { of: 'disbursed_value', value: centsOf('9900.00') }],
    ['of the time before it was recorded', unruled, { of: 'acquisition_value', value: centsOf('10000.00') }],
  ])('is decided again by the rule %s', (_label, before, basis) => {
    const event = exit(before, reason);
    expect(audit([...before, event])).toEqual([]);
    expect(basisOf(event, stateAfter(loanDecider, before))).toEqual(basis);
  });

  test('by the other rule is a difference', () => {
    for (const [before, other] of [
      [ruled, unruled],
      [unruled, ruled],
    ] as const) {
      const differences = audit([...before, exit(other, reason)]);
      expect(differences.map(({ kind, what }) => [kind, what])).toEqual([
        ['price', 'repurchase_value'],
        ['price', 'calculated_value'],
      ]);
    }
  });
});
