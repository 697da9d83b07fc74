import { describe, test } from '@jest/globals';
import { loanDecider } from '../../../domain/loan/index.ts';
import type { RejectLoan } from '../../../domain/loan/index.ts';
import type { CalendarDate } from '../../../domain/shared/calendar-date.ts';
import { specFor } from '../../support/decider-spec.ts';
import { centsOf } from '../support/finance-vectors.ts';
import {
  NOW,
  approved,
  disbursed,
  disbursedLongAgo,
  received,
  rejected,
  termSigned,
} from '../support/loan-story.ts';

const loan = specFor(loanDecider);
const approve = { type: 'ApproveLoan', now: NOW } as const;
const reject: RejectLoan = { type: 'RejectLoan', reasons: rejected.reasons, now: NOW };
const sign = { type: 'SignLoanTerm', now: NOW } as const;
const disburse = { type: 'DisburseLoan', now: NOW } as const;

describe('the administrator', () => {
  test('approves a received operation', () => {
    loan.given(received).when(approve).then(approved);
  });

  test('rejects an operation with its reasons until the fund has paid for it', () => {
    for (const story of [[received], [received, approved], [received, approved, termSigned]]) {
      loan
        .given(...story)
        .when(reject)
        .then(rejected);
      loan
        .given(...story, rejected)
        .when(disburse)
        .thenRefused('operation_invalid_state', /is rejected/);
    }
  });

  test('registers the signed term of an approved operation', () => {
    loan.given(received, approved).when(sign).then(termSigned);
  });

  test('disburses the acquisition value, unless told otherwise', () => {
    loan.given(received, approved, termSigned).when(disburse).then(disbursed);
    const disbursedValue = centsOf('9900.00');
    loan
      .given(received, approved, termSigned)
      .when({ ...disburse, disbursedValue })
      .then({ ...disbursed, disbursedValue });
  });

  test('records with the disbursement that exits follow its value', () => {
    loan
      .given(received, approved, termSigned)
      .when({ ...disburse, exitBasis: 'acquisition_value' })
      .then(disbursedLongAgo);
    loan
      .given(received, approved, termSigned)
      .when(disburse)
      .then({ ...disbursedLongAgo, exitBasis: 'disbursed_value' });
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

  test('cannot give other reasons for a rejection, nor other facts of a disbursement', () => {
    const reasons = [{ code: 'other', message: 'another one' }];
    loan
      .given(received, rejected)
      .when({ ...reject, reasons })
      .thenRefused('operation_invalid_state', /is rejected; the reasons given first stand/);
    const paid = { ...disbursed, disbursementDate: '2026-01-19' as CalendarDate };
    const active = loan.given(received, approved, termSigned, paid);
    const again = { ...disburse, disbursedValue: paid.disbursedValue };
    active.when({ ...again, disbursementDate: paid.disbursementDate }).thenNothing();
    active.when(again).thenNothing();
    for (const contradiction of [
      { ...disburse, disbursedValue: centsOf('1.00') },
      { ...again, disbursementDate: '2026-01-20' as CalendarDate },
    ]) {
      active
        .when(contradiction)
        .thenRefused('operation_invalid_state', /was disbursed for it already on 2026-01-19/);
    }
  });

  test('states the day of a disbursement, which cannot come before the issue', () => {
    const signed = loan.given(received, approved, termSigned);
    const disbursementDate = '2026-01-19' as CalendarDate;
    signed.when({ ...disburse, disbursementDate }).then({ ...disbursed, disbursementDate });
    signed
      .when({ ...disburse, disbursementDate: '2026-01-14' as CalendarDate })
      .thenRefused('invalid_date', /disbursement_date 2026-01-14/);
  });

  test('leaves a record of each decision in its event', () => {
    const decision = { decidedAt: '2026-01-18T09:00:00.000Z' as typeof NOW, note: 'committee' };
    loan
      .given(received)
      .when({ ...approve, decision })
      .then({ ...approved, decision });
    loan
      .given(received)
      .when({ ...reject, decision })
      .then({ ...rejected, decision });
    loan
      .given(received, approved)
      .when({ ...sign, decision })
      .then({ ...termSigned, decision });
    loan
      .given(received, approved, termSigned)
      .when({ ...disburse, decision })
      .then({ ...disbursed, decision });
  });

  test('cannot take a decision back', () => {
    loan
      .given(received, rejected)
      .when(approve)
      .thenRefused('operation_invalid_state', /is rejected/);
    loan
      .given(received, approved, termSigned, disbursed)
      .when(reject)
      .thenRefused('operation_invalid_state', /is active/);
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
