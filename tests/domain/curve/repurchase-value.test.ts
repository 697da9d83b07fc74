import { describe, expect, test } from '@jest/globals';
import { repurchaseValue } from '../../../domain/curve/repurchase-value.ts';
import { EXITS } from '../../../domain/loan/exits.ts';
import { calendarDate } from '../../../domain/shared/calendar-date.ts';
import { addCents } from '../../../domain/shared/money.ts';
import type { Cents } from '../../../domain/shared/money.ts';
import { L1, centsOf, opened, scheduleOf, vectors } from '../support/finance-vectors.ts';

const date = calendarDate('2026-06-20');
const published = L1.present_values.find(
  ({ effective_date, open }) => effective_date === date && open.length === 7,
);
const position = (receivedValue: Cents) => ({
  exitBasisValue: centsOf(L1.acquisition_value),
  dailyFactor: L1.daily_factor,
  open: scheduleOf(L1).slice(5).map(opened),
  receivedValue,
});

describe('repurchase value', () => {
  test.each(['repurchase', 'integrated_repurchase'] as const)(
    '%s follows the curve, with its lines',
    (reason) => {
      const { value, lines } = repurchaseValue(EXITS[reason].pricing, position(centsOf('4750.00')), date);
      expect(value).toBe(centsOf('6147.33'));
      expect(lines.map((line) => line.presentValue)).toEqual(published?.lines.map(centsOf));
    },
  );

  test('cession_reversal gives back what the fund gave, payments or not', () => {
    const expected = { value: centsOf(vectors.cession_reversal_on_L1), lines: [] };
    expect(repurchaseValue(EXITS.cession_reversal.pricing, position(centsOf('0.00')), date)).toEqual(
      expected,
    );
    expect(repurchaseValue(EXITS.cession_reversal.pricing, position(centsOf('4750.00')), date)).toEqual(
      expected,
    );
  });

  test.each(vectors.resolution_on_L1)('resolution leaves $repurchase_value of it', (vector) => {
    const receivedValue = addCents(...vector.received.map(centsOf));
    expect(repurchaseValue(EXITS.resolution.pricing, position(receivedValue), date)).toEqual({
      value: centsOf(vector.repurchase_value),
      lines: [],
    });
  });
});
