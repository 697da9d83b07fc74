import { describe, expect, test } from '@jest/globals';
import { REPURCHASE_REASONS } from '../../../domain/loan/events.ts';
import { calendarDate } from '../../../domain/shared/calendar-date.ts';
import type { LoanCode } from '../../../domain/shared/identifiers.ts';
import { centsOf, vectors } from '../../domain/support/finance-vectors.ts';
import { context } from '../../support/application-parts.ts';
import { activate, postAssignment, prepayment, repurchase, storyOf } from '../../support/post-assignment.ts';

const paidUntilMay = ['001', '002', '003', '004', '005'];

describe('a prepayment tried out', () => {
  test.each(vectors.prepayment_on_L1)(
    '$name: the numbers of the prepayment itself, and nothing stored',
    async (v) => {
      const world = postAssignment();
      await activate(world, { paid: v.paid_in_full_before });
      const before = await storyOf(world);
      const input = prepayment(v.prepayment_value, 'k-1', {
        prepaymentDate: calendarDate(v.prepayment_date),
      });
      const quote = await world.quotes.prepayment(context(), input);
      expect(quote).toMatchObject({
        resultingStatus: v.loan_settled ? 'settled' : 'active',
        settledInstallments: v.settled_installments,
        remainingBalance: centsOf(v.remaining_balance),
        excessValue: centsOf(v.excess_value),
      });
      expect(quote.partiallyPaid?.outstandingValue).toBe(
        v.partial ? centsOf(v.partial.outstanding_at_due) : undefined,
      );
      expect(
        quote.lines.filter(({ paidOff }) => paidOff).map(({ installmentCode }) => installmentCode),
      ).toEqual(v.settled_installments);
      expect(await storyOf(world)).toEqual(before);
      // In earnest, with the same key: it is not a replay of anything.
      const done = await world.prepay.execute(context(), input);
      expect(done.replayed).toBe(false);
      expect(done.result).toMatchObject({
        settledInstallments: quote.settledInstallments,
        remainingBalance: quote.remainingBalance,
      });
    },
  );
});

describe('a repurchase tried out', () => {
  test.each(REPURCHASE_REASONS)('%s: value and lines of the repurchase itself', async (reason) => {
    const world = postAssignment();
    await activate(world, { paid: paidUntilMay });
    const before = await storyOf(world);
    const quote = await world.quotes.repurchase(context(), repurchase({ reason }));
    expect(await storyOf(world)).toEqual(before);
    const { result } = await world.repurchase.execute(context(), repurchase({ reason }));
    expect(quote).toMatchObject({
      resultingStatus: 'repurchase_pending',
      repurchaseValue: result.repurchaseValue,
      acquisitionValue: centsOf('10000.00'),
    });
    const sum = quote.lines.reduce((total, { presentValue }) => total + presentValue, 0);
    expect(sum).toBe(quote.lines.length === 0 ? 0 : quote.calculatedValue);
    if (quote.lines[0]) {
      expect(quote.lines[0]).toMatchObject({ installmentCode: '006', faceValue: centsOf('950.00') });
    }
  });

  test('is refused where the repurchase would be', async () => {
    const world = postAssignment();
    await expect(
      world.quotes.repurchase(context(), repurchase({ code: 'NONE' as LoanCode })),
    ).rejects.toMatchObject({ code: 'loan_not_found' });
    await activate(world);
    await world.repurchase.execute(context(), repurchase());
    await expect(world.quotes.repurchase(context(), repurchase())).rejects.toMatchObject({
      code: 'operation_invalid_state',
    });
  });

  test('another process moved the operation: the quote sees it', async () => {
    const world = postAssignment();
    await activate(world);
    await world.quotes.repurchase(context(), repurchase());
    const elsewhere = postAssignment({ store: world.store });
    await elsewhere.prepay.execute(context(), prepayment('3000.00'));
    const quote = await world.quotes.repurchase(context(), repurchase());
    expect(quote.receivedValue).toBe(centsOf('3000.00'));
  });
});
