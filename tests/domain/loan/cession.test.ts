import { describe, test } from '@jest/globals';
import { loanDecider } from '../../../domain/loan/index.ts';
import type { RejectLoan } from '../../../domain/loan/index.ts';
import { specFor } from '../../support/decider-spec.ts';
import { centsOf } from '../support/finance-vectors.ts';
import { NOW, approved, disbursed, received, rejected, termSigned } from '../support/loan-story.ts';

const loan = specFor(loanDecider);
const approve = { type: 'ApproveLoan', now: NOW } as const;
const reject: RejectLoan = { type: 'RejectLoan', reasons: rejected.reasons, now: NOW };
const sign = { type: 'SignLoanTerm', now: NOW } as const;
const disburse = { type: 'DisburseLoan', now: NOW } as const;

describe('the administrator', () => {
  test('approves a received operation', () => {
    loan.given(received).when(approve).then(approved);
  });

  test('rejects a received operation with its reasons', () => {
    loan.given(received).when(reject).then(rejected);
  });

  test('registers the signed term of an approved operation', () => {
    loan.given(received, approved).when(sign).then(termSigned);
  });

  test('disburses the acquisition value now, unless told otherwise', () => {
    loan.given(received, approved, termSigned).when(disburse).then(disbursed);
    const disbursedAt = '2026-01-19T09:00:00.000Z' as typeof NOW;
    const disbursedValue = centsOf('9900.00');
    loan
      .given(received, approved, termSigned)
      .when({ ...disburse, disbursedValue, disbursedAt })
      .then({ type: 'LoanDisbursed', disbursedValue, disbursedAt });
  });

  test('cannot disburse nothing', () => {
    loan
      .given(received, approved, termSigned)
      .when({ ...disburse, disbursedValue: centsOf('0.00') })
      .thenRefused('validation_error', /disbursed_value/);
  });

  test('changes nothing by deciding again what is decided', () => {
    loan.given(received, approved).when(approve).thenNothing();
    loan.given(received, rejected).when(reject).thenNothing();
    loan.given(received, approved, termSigned).when(sign).thenNothing();
    loan.given(received, approved, termSigned, disbursed).when(disburse).thenNothing();
  });

  test('cannot take a decision back', () => {
    loan
      .given(received, rejected)
      .when(approve)
      .thenRefused('operation_invalid_state', /is rejected/);
    loan
      .given(received, approved)
      .when(reject)
      .thenRefused('operation_invalid_state', /is approved/);
  });

  test('cannot skip a step', () => {
    loan
      .given(received)
      .when(sign)
      .thenRefused('operation_invalid_state', /is received/);
    loan
      .given(received, approved)
      .when(disburse)
      .thenRefused('operation_invalid_state', /is approved/);
  });
});
