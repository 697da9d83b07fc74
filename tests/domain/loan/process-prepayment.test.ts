import { describe, expect, test } from '@jest/globals';
import { loanDecider } from '../../../domain/loan/index.ts';
import { installmentsOf, openFaceValue, payoffValue } from '../../../domain/loan/state.ts';
import type { LoanEvent, LoanState, PrepaymentProcessed } from '../../../domain/loan/index.ts';
import { partiallyPaid } from '../../../domain/loan/payments.ts';
import { calendarDate } from '../../../domain/shared/calendar-date.ts';
import { stateAfter } from '../../../domain/shared/decider.ts';
import { specFor } from '../../support/decider-spec.ts';
import { L1, centsOf, vectors } from '../support/finance-vectors.ts';
import { NOW, activated, becameOverdue, paid, prepay, received, settle } from '../support/loan-story.ts';

const loan = specFor(loanDecider);
const fivePaid = ['001', '002', '003', '004', '005'].map((code) => paid(code));
const june20 = calendarDate('2026-06-20');

const decided = (events: readonly LoanEvent[], command: Parameters<typeof loanDecider.decide>[0]) =>
  loanDecider.decide(command, stateAfter(loanDecider, events));
const isPrepayment = (event: LoanEvent): event is PrepaymentProcessed => event.type === 'PrepaymentProcessed';
const installmentsAfter = (state: LoanState) => ('changed' in state ? installmentsOf(state) : []);

describe('a prepayment of L1', () => {
  test.each(vectors.prepayment_on_L1)('$name gives the published result', (vector) => {
    const before = [...activated, ...vector.paid_in_full_before.map((code) => paid(code))];
    const events = decided(before, prepay(vector.prepayment_value, vector.prepayment_date));
    const [processed] = events.filter(isPrepayment);
    expect(processed).toMatchObject({
      settledInstallments: vector.settled_installments,
      remainingBalance: centsOf(vector.remaining_balance),
      excessValue: centsOf(vector.excess_value),
      pricing: { policy: 'curve_v1', dailyFactor: L1.daily_factor },
    });
    const after = stateAfter(loanDecider, [...before, ...events]);
    expect(after.status).toBe(vector.loan_settled ? 'settled' : 'active');
    expect(payoffValue(installmentsAfter(after), L1.daily_factor, june20)).toBe(
      centsOf(vector.remaining_balance),
    );
  });

  test('that covers the balance settles the operation in the same decision', () => {
    const events = decided([...activated, ...fivePaid], prepay('7000.00'));
    expect(events).toHaveLength(2);
    expect(events[1]).toEqual({
      type: 'LoanFullySettled',
      settledAt: june20,
      closingEvent: 'installment_prepaid',
      totalReceived: centsOf('10897.33'),
      processedAt: NOW,
    });
  });

  test('pays overdue installments off first, and they end prepaid', () => {
    const before = [...activated, ...fivePaid.slice(0, 3), becameOverdue('004'), becameOverdue('005')];
    const after = stateAfter(loanDecider, [...before, ...decided(before, prepay('2500.00'))]);
    const statuses = installmentsAfter(after).map(({ status }) => status);
    expect(statuses.slice(3, 6)).toEqual(['prepaid', 'prepaid', 'pending']);
  });

  test('leaves a credit that the later settlement of that installment respects', () => {
    const before = [...activated, ...fivePaid];
    const prepaid = decided(before, prepay('3000.00'));
    const settled = { ...paid('009', '436.45'), scheduledValue: centsOf('436.45') };
    loan
      .given(...before, ...prepaid)
      .when(settle('009', '436.45'))
      .then(settled);
    loan
      .given(...before, ...prepaid)
      .when(settle('012'))
      .thenRefused('installment_already_closed', /prepaid/);
  });

  test('moves the balances by what it took', () => {
    const before = [...activated, ...fivePaid];
    const after = stateAfter(loanDecider, [...before, ...decided(before, prepay('3000.00'))]);
    expect(after).toMatchObject({ openCount: 4, receivedValue: centsOf('7750.00') });
    expect(openFaceValue(installmentsAfter(after))).toBe(centsOf('3800.00'));
  });

  test('meets the credit of an earlier one on the same installment', () => {
    const before = [...activated, ...fivePaid];
    const first = decided(before, prepay('100.00'));
    const second = decided([...before, ...first], prepay('100.00'));
    const [together] = decided(before, prepay('200.00')).filter(isPrepayment);
    const after = stateAfter(loanDecider, [...before, ...first, ...second]);
    expect(installmentsAfter(after).at(-1)).toMatchObject({ credits: [{ value: '100' }, { value: '100' }] });
    expect(payoffValue(installmentsAfter(after), L1.daily_factor, june20)).toBe(centsOf('5947.33'));
    expect(second.filter(isPrepayment)[0]?.partial?.outstandingAtDue).toBe(
      together?.partial?.outstandingAtDue,
    );
  });

  test('tells of no credit where rounding left less than nothing, and carries it', () => {
    const before = [...activated, ...fivePaid];
    const events = decided(before, prepay('3403.15'));
    const [processed] = events.filter(isPrepayment);
    expect(processed?.partial?.credit.value).toMatch(/^-0\.003498/);
    expect(partiallyPaid(processed!)).toBeUndefined();
    const after = stateAfter(loanDecider, [...before, ...events]);
    expect(payoffValue(installmentsAfter(after), L1.daily_factor, june20)).toBe(processed!.remainingBalance);
    loan
      .given(...before, ...events)
      .when(settle('008', '950.00'))
      .then({ ...paid('008', '950.00'), lateDays: 0 });
    const [told] = decided(before, prepay('3000.00')).filter(isPrepayment);
    expect(partiallyPaid(told!)).toMatchObject({ installmentCode: '009' });
  });

  test('counts what was received without the excess', () => {
    const before = [...activated, ...fivePaid];
    const after = stateAfter(loanDecider, [...before, ...decided(before, prepay('7000.00'))]);
    expect(after).toMatchObject({ receivedValue: centsOf('10897.33') });
    expect(openFaceValue(installmentsAfter(after))).toBe(0);
  });
});

describe('a prepayment is refused', () => {
  test('for an operation that does not exist', () => {
    loan.given().when(prepay('100.00')).thenRefused('loan_not_found');
  });
  test('before the issue, even when the operation is not active', () => {
    loan
      .given(received)
      .when(prepay('100.00', '2026-01-14'))
      .thenRefused('invalid_date', /prepayment_date/);
  });
  test('before the operation is active', () => {
    loan
      .given(received)
      .when(prepay('100.00'))
      .thenRefused('operation_invalid_state', /is received/);
  });
  test('without an amount', () => {
    loan
      .given(...activated)
      .when(prepay('0.00'))
      .thenRefused('validation_error', /prepayment_value/);
  });
  test('where the curve has outgrown every amount', () => {
    const overnight = { ...received, pricing: { ...received.pricing, dailyFactor: '0.5' } };
    loan
      .given(overnight, ...activated.slice(1))
      .when(prepay('100.00'))
      .thenRefused('invalid_date', /2026-06-20.*one by one/);
  });
});
