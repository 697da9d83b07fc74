import { describe, expect, test } from '@jest/globals';
import { loanDecider } from '../../../domain/loan/index.ts';
import { addDays, calendarDate } from '../../../domain/shared/calendar-date.ts';
import { refusalOf, specFor } from '../../support/decider-spec.ts';
import { centsOf } from '../support/finance-vectors.ts';
import { installmentCode, receiveL1, received } from '../support/loan-story.ts';

const loan = specFor(loanDecider);

const violationsOf = (command: typeof receiveL1) => {
  const refusal = refusalOf(() => loanDecider.decide(command, loanDecider.initialState));
  expect(refusal.code).toBe('validation_error');
  return refusal.details.map(({ field, code }) => `${field} ${code}`);
};
const [first, second, ...others] = receiveL1.installments;
if (!first || !second) throw new Error('L1 has twelve installments');

describe('receiving an operation', () => {
  test('fixes its daily factor', () => {
    loan.given().when(receiveL1).then(received);
  });

  test('needs a code that no operation has', () => {
    loan.given(received).when(receiveL1).thenRefused('proposal_code_already_used', /L1/);
  });

  test('accepts the most there can be: 480 installments', () => {
    const installments = Array.from({ length: 480 }, (_, i) => ({
      code: installmentCode(String(i)),
      dueDate: addDays(receiveL1.dateIssued, 1 + i * 30),
      faceValue: centsOf('100.00'),
    }));
    expect(loanDecider.decide({ ...receiveL1, installments }, loanDecider.initialState)).toHaveLength(1);
    const tooMany = [...installments, { ...first, code: installmentCode('x') }];
    expect(violationsOf({ ...receiveL1, installments: tooMany })).toEqual([
      'installments invalid_number_of_installments',
    ]);
  });

  test('needs at least one installment', () => {
    expect(violationsOf({ ...receiveL1, installments: [] })).toEqual([
      'installments invalid_number_of_installments',
    ]);
  });

  test('answers every broken rule at once', () => {
    const command = {
      ...receiveL1,
      acquisitionValue: centsOf('0.00'),
      installments: [
        { ...first, dueDate: receiveL1.dateIssued },
        { ...second, code: first.code, faceValue: centsOf('0.00'), dueDate: calendarDate('2025-01-15') },
        ...others,
      ],
    };
    expect(violationsOf(command)).toEqual([
      'acquisition_value invalid_amount',
      'installments[0].due_date due_date_not_after_issue',
      'installments[1].face_value invalid_amount',
      'installments[1].due_date due_date_not_after_issue',
      'installments[1].code duplicate_installment_code',
    ]);
  });
});
