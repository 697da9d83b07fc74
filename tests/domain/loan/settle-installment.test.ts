import { describe, expect, test } from '@jest/globals';
import { loanDecider } from '../../../domain/loan/index.ts';
import type { LoanEvent } from '../../../domain/loan/index.ts';
import { stateAfter } from '../../../domain/shared/decider.ts';
import { refusalOf, specFor } from '../../support/decider-spec.ts';
import { L1, centsOf } from '../support/finance-vectors.ts';
import {
  NOW,
  activated,
  becameOverdue,
  markOverdue,
  paid,
  received,
  repurchaseRequested,
  settle,
  underpaid,
} from '../support/loan-story.ts';

const loan = specFor(loanDecider);
const codes = L1.installments.map(({ code }) => code);
const allButLast = codes.slice(0, -1).map((code) => paid(code));
const fullySettled = (totalReceived: string): LoanEvent => ({
  type: 'LoanFullySettled',
  settledAt: settle('012').settledAt,
  closingEvent: 'installment_settled',
  totalReceived: centsOf(totalReceived),
  processedAt: NOW,
});

describe('settling one installment of an active operation', () => {
  test('on its due date', () => {
    loan
      .given(...activated)
      .when(settle('001'))
      .then(paid('001'));
  });

  test('late, overdue or not yet marked so', () => {
    const late = { ...paid('001', '960.00', '2026-02-20'), lateDays: 5 };
    loan
      .given(...activated)
      .when(settle('001', '960.00', '2026-02-20'))
      .then(late);
    loan
      .given(...activated, becameOverdue('001'))
      .when(settle('001', '960.00', '2026-02-20'))
      .then(late);
  });

  test('with less than it owes', () => {
    loan
      .given(...activated)
      .when(settle('004', '900.00'))
      .then(paid('004', '900.00'), underpaid('004', '900.00', '50.00'));
  });

  test('on the day of the issue at the earliest', () => {
    loan
      .given(...activated)
      .when(settle('001', '950.00', '2026-01-15'))
      .then(paid('001', '950.00', '2026-01-15'));
    loan
      .given(...activated)
      .when(settle('001', '950.00', '2026-01-14'))
      .thenRefused('invalid_date', /2026-01-15/);
  });

  test('the last one settles the operation, in one decision', () => {
    loan
      .given(...activated, ...allButLast)
      .when(settle('012'))
      .then(paid('012'), fullySettled('11400.00'));
  });

  test('the last one, underpaid, says so before it settles the operation', () => {
    loan
      .given(...activated, ...allButLast)
      .when(settle('012', '900.00'))
      .then(paid('012', '900.00'), underpaid('012', '900.00', '50.00'), fullySettled('11350.00'));
  });

  test('twice is refused', () => {
    loan
      .given(...activated, paid('001'))
      .when(settle('001'))
      .thenRefused('installment_already_closed', /001/);
  });

  test('needs an amount above zero', () => {
    loan
      .given(...activated)
      .when(settle('001', '0.00'))
      .thenRefused('validation_error', /settled_value/);
  });
});

describe('what a settlement is refused for, first things first', () => {
  const wrong = settle('099', '950.00', '2025-01-01');

  test('the operation does not exist', () => {
    loan.given().when(wrong).thenRefused('loan_not_found');
  });
  test('the installment does not exist, in any status', () => {
    loan.given(received).when(wrong).thenRefused('installment_not_found', /099/);
    loan
      .given(...activated, repurchaseRequested('repurchase'))
      .when(wrong)
      .thenRefused('installment_not_found');
  });
  test('the date lies before the issue', () => {
    loan
      .given(...activated, repurchaseRequested('repurchase'))
      .when(settle('001', '950.00', '2025-01-01'))
      .thenRefused('invalid_date');
  });
  test('the operation is not active, though the installment is closed too', () => {
    loan
      .given(...activated, paid('001'), repurchaseRequested('repurchase'))
      .when(settle('001'))
      .thenRefused('operation_invalid_state', /repurchase_pending/);
  });
});

describe('marking installments overdue', () => {
  test('takes those whose due date has passed', () => {
    loan
      .given(...activated, paid('001'))
      .when(markOverdue('2026-04-15'))
      .then(becameOverdue('002'));
    loan
      .given(...activated, paid('001'))
      .when(markOverdue('2026-04-16'))
      .then(becameOverdue('002'), becameOverdue('003'));
  });

  test('changes nothing the second time, or when nothing is due', () => {
    loan
      .given(...activated, becameOverdue('001'))
      .when(markOverdue('2026-02-16'))
      .thenNothing();
    loan
      .given(...activated)
      .when(markOverdue('2026-02-15'))
      .thenNothing();
  });
});

test('money received counts charges and not what was missing', () => {
  const state = stateAfter(loanDecider, [...activated, paid('001', '1000.00'), paid('002', '900.00')]);
  expect(state).toMatchObject({ status: 'active', openCount: 10, receivedValue: centsOf('1900.00') });
});

test('a refusal names the field, and an operation that has ended is said to have ended', () => {
  const refusal = (events: readonly LoanEvent[], code: string) =>
    refusalOf(() =>
      loanDecider.decide(settle(code, '950.00', '2026-06-20'), stateAfter(loanDecider, events)),
    );
  expect(refusal([], '001').details).toMatchObject([{ field: 'originator_proposal_code' }]);
  expect(refusal(activated, '099').details).toMatchObject([{ field: 'installment_code' }]);
  expect(refusal([received], '001').message).toContain('read its status again');
  const ended = [...activated, ...codes.map((code) => paid(code)), fullySettled('11400.00')];
  expect(refusal(ended, '001').message).toMatch(
    /is settled; .* needs an active operation: it has ended and will not change$/,
  );
});
