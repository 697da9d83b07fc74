import { describe, expect, test } from '@jest/globals';
import type { AskedSettlement } from '../../../application/loans/payments.ts';
import { REPURCHASE_REASONS } from '../../../domain/loan/exits.ts';
import { calendarDate } from '../../../domain/shared/calendar-date.ts';
import type { InstallmentCode, LoanCode } from '../../../domain/shared/identifiers.ts';
import { L1, centsOf, vectors } from '../../domain/support/finance-vectors.ts';
import { context } from '../../support/application-parts.ts';
import { activate, postAssignment, prepayment, repurchase, storyOf } from '../../support/post-assignment.ts';

const settlement = (value: string, more: Partial<AskedSettlement> = {}): AskedSettlement => ({
  code: 'L1' as LoanCode,
  installmentCode: '006' as InstallmentCode,
  settledAt: calendarDate('2026-07-20'),
  settledValue: centsOf(value),
  paymentMethod: 'pix',
  idempotencyKey: 's-1',
  ...more,
});

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
      const quote = await world.loans.quotePrepayment(context(), input);
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
      const done = await world.loans.prepay(context(), input);
      expect(done.replayed).toBe(false);
      expect(done.result).toMatchObject({
        settledInstallments: quote.settledInstallments,
        remainingBalance: quote.remainingBalance,
      });
    },
  );
});

describe('a settlement tried out', () => {
  test.each([
    ['in full', '950.00', { difference: 0, surplus: 0 }],
    ['below the scheduled value', '900.00', { difference: 5_000, surplus: 0 }],
    ['with charges', '960.00', { difference: 0, surplus: 1_000 }],
  ])('%s: what the settlement itself records, and nothing stored', async (_, value, line) => {
    const world = postAssignment();
    await activate(world, { paid: paidUntilMay });
    const before = await storyOf(world);
    const input = settlement(value);
    const quote = await world.loans.quoteSettlement(context(), input);
    expect(quote).toMatchObject({
      resultingStatus: 'active',
      settledValue: centsOf(value),
      lines: [{ installmentCode: '006', scheduledValue: centsOf('950.00'), lateDays: 5, days: -5, ...line }],
    });
    expect(await storyOf(world)).toEqual(before);
    expect((await world.loans.settle(context(), input)).replayed).toBe(false);
    const [settled] = (await storyOf(world)).slice(before.length);
    expect(settled).toMatchObject({ scheduledValue: centsOf('950.00'), lateDays: 5 });
  });

  test('of the last installment tells that the operation would be settled', async () => {
    const world = postAssignment();
    const all = L1.installments.map(({ code }) => code);
    await activate(world, { paid: all.slice(0, -1) });
    const last = settlement('950.00', { installmentCode: all.at(-1) as InstallmentCode });
    expect((await world.loans.quoteSettlement(context(), last)).resultingStatus).toBe('settled');
  });

  test('is refused where the settlement would be, and a used key is not looked up', async () => {
    const world = postAssignment();
    await activate(world);
    await world.loans.settle(context(), settlement('950.00'));
    const refused: readonly (readonly [Partial<AskedSettlement>, string])[] = [
      [{}, 'installment_already_closed'],
      [{ code: 'NONE' as LoanCode }, 'loan_not_found'],
      [{ installmentCode: '999' as InstallmentCode }, 'installment_not_found'],
      [{ settledAt: calendarDate('2020-01-01') }, 'invalid_date'],
    ];
    for (const [change, code] of refused) {
      await expect(
        world.loans.quoteSettlement(context(), settlement('950.00', change)),
      ).rejects.toMatchObject({
        code,
      });
    }
    await world.loans.repurchase(context(), repurchase());
    await expect(world.loans.quoteSettlement(context(), settlement('950.00'))).rejects.toMatchObject({
      code: 'operation_invalid_state',
    });
  });
});

describe('a repurchase tried out', () => {
  test.each(REPURCHASE_REASONS)('%s: value and lines of the repurchase itself', async (reason) => {
    const world = postAssignment();
    await activate(world, { paid: paidUntilMay });
    const before = await storyOf(world);
    const quote = await world.loans.quoteRepurchase(context(), repurchase({ reason }));
    expect(await storyOf(world)).toEqual(before);
    const { result } = await world.loans.repurchase(context(), repurchase({ reason }));
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
      world.loans.quoteRepurchase(context(), repurchase({ code: 'NONE' as LoanCode })),
    ).rejects.toMatchObject({ code: 'loan_not_found' });
    await activate(world);
    await world.loans.repurchase(context(), repurchase());
    await expect(world.loans.quoteRepurchase(context(), repurchase())).rejects.toMatchObject({
      code: 'operation_invalid_state',
    });
  });

  test('another process moved the operation: the quote sees it', async () => {
    const world = postAssignment();
    await activate(world);
    await world.loans.quoteRepurchase(context(), repurchase());
    const elsewhere = postAssignment({ store: world.store });
    await elsewhere.loans.prepay(context(), prepayment('3000.00'));
    const quote = await world.loans.quoteRepurchase(context(), repurchase());
    expect(quote.receivedValue).toBe(centsOf('3000.00'));
  });
});
