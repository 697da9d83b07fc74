import { describe, expect, test } from '@jest/globals';
import { loanDecider } from '../../../domain/loan/index.ts';
import type { LoanEvent, LoanFullySettled, LoanState } from '../../../domain/loan/index.ts';
import { stateAfter } from '../../../domain/shared/decider.ts';
import { centsOf } from '../support/finance-vectors.ts';
import {
  NOW,
  activated,
  approved,
  becameOverdue,
  disbursed,
  paid,
  prepay,
  received,
  rejected,
  repurchaseCompleted,
  repurchaseRequested,
  termSigned,
  underpaid,
} from '../support/loan-story.ts';

const active = stateAfter(loanDecider, activated);
const prepaid = loanDecider.decide(prepay('3000.00'), active);
const fullySettled: LoanFullySettled = {
  type: 'LoanFullySettled',
  settledAt: paid('012').settledAt,
  closingEvent: 'installment_settled',
  totalReceived: centsOf('11400.00'),
  processedAt: NOW,
};

/** The statuses from which each event leads on, one in most cases, and where it leads. */
const steps: readonly (readonly [
  LoanEvent,
  LoanState['status'] | readonly LoanState['status'][],
  LoanState['status'],
])[] = [
  [received, 'none', 'received'],
  [approved, 'received', 'approved'],
  [rejected, ['received', 'approved', 'term_signed'], 'rejected'],
  [termSigned, 'approved', 'term_signed'],
  [disbursed, 'term_signed', 'active'],
  [paid('001'), 'active', 'active'],
  [becameOverdue('001'), 'active', 'active'],
  ...prepaid.map((event) => [event, 'active', 'active'] as const),
  [fullySettled, 'active', 'settled'],
  [repurchaseRequested('resolution'), 'active', 'repurchase_pending'],
  [repurchaseCompleted('resolution', 'resolved'), 'repurchase_pending', 'resolved'],
];

const pending = [...activated, repurchaseRequested('resolution')];
const states: readonly LoanState[] = [
  [],
  [received],
  [received, approved],
  [received, rejected],
  [received, approved, termSigned],
  activated,
  [...activated, fullySettled],
  pending,
  [...pending, repurchaseCompleted('resolution', 'resolved')],
].map((events) => stateAfter(loanDecider, events));

describe.each(steps.map(([event, from, to]) => ({ event, type: event.type, from: [from].flat(), to })))(
  '$type',
  ({ event, from, to }) => {
    test.each(from)(`leads from %s to ${to}`, (status) => {
      const before = states.find((one) => one.status === status) ?? active;
      const after = loanDecider.evolve(before, event);
      expect(after.status).toBe(to);
      expect(after).not.toEqual(before);
    });

    test.each(states.filter(({ status }) => !from.includes(status)))(
      'leaves an operation that is $status alone',
      (state) => {
        expect(loanDecider.evolve(state, event)).toBe(state);
      },
    );
  },
);

describe('an event that does not fit an active operation leaves it as it is', () => {
  test.each<[string, LoanEvent, readonly LoanEvent[]]>([
    ['a payment of an unknown installment', paid('001', '1.00'), []],
    ['a second payment', paid('002'), [paid('002')]],
    ['an unknown overdue installment', becameOverdue('003'), []],
    ['the record of an underpayment', underpaid('001', '900.00', '50.00'), []],
  ])('%s', (label, event, before) => {
    const state = stateAfter(loanDecider, [...activated, ...before]);
    const strange = label.includes('unknown') ? ({ ...event, installmentCode: '099' } as LoanEvent) : event;
    expect(loanDecider.evolve(state, strange)).toBe(state);
  });

  test('a prepayment that names unknown installments counts its money and closes none', () => {
    const [processed] = prepaid;
    const strange = {
      ...processed,
      settledInstallments: ['098'],
      partial: undefined,
    } as unknown as LoanEvent;
    expect(loanDecider.evolve(active, strange)).toMatchObject({
      openCount: 12,
      receivedValue: centsOf('3000.00'),
    });
  });

  test('a prepayment that names an installment twice, a closed one, or the same for both, closes each once', () => {
    const [processed] = prepaid;
    const credit = { value: '10', date: '2026-06-20' };
    const strange = {
      ...processed,
      settledInstallments: ['002', '001', '001', '003'],
      partial: { installmentCode: '003', credit, outstandingAtDue: 0 },
    } as unknown as LoanEvent;
    const after = stateAfter(loanDecider, [...activated, paid('002'), strange]);
    expect(after).toMatchObject({ openCount: 9 });
    const statuses = 'changed' in after && after.changed.map((one) => one?.status);
    expect(statuses).toEqual(['prepaid', 'settled', 'prepaid', ...Array<undefined>(9)]);
  });
});
