import { describe, expect, jest, test } from '@jest/globals';
import { calendarDate } from '../../../domain/shared/calendar-date.ts';
import type { LoanCode } from '../../../domain/shared/identifiers.ts';
import { cents } from '../../../domain/shared/money.ts';
import { context } from '../../support/application-parts.ts';
import {
  activate,
  postAssignment,
  prepayment,
  repurchase,
  storyOf,
  streamOf,
} from '../../support/post-assignment.ts';

const paidUntilMay = ['001', '002', '003', '004', '005'];

describe('process a prepayment', () => {
  test('the event keeps how it was priced', async () => {
    const world = postAssignment();
    await activate(world, { paid: paidUntilMay });
    await world.loans.prepay(context(), prepayment('3000.00'));
    expect((await storyOf(world)).at(-1)).toMatchObject({
      type: 'PrepaymentProcessed',
      pricing: { policy: 'curve_v1', dailyFactor: '0.999321899697897308243314396013' },
      payoffValue: 614_733,
      lines: [{ installmentCode: '012' }, { installmentCode: '011' }, {}, {}],
    });
  });

  test('a replay answers what that prepayment did, in any process and after others', async () => {
    const world = postAssignment();
    await activate(world, { paid: paidUntilMay });
    const first = await world.loans.prepay(context(), prepayment('1000.00', 'a'));
    const second = await world.loans.prepay(context(), prepayment('1000.00', 'b'));
    expect(second.result.remainingBalance).toBe(first.result.remainingBalance - 100_000);
    await world.loans.prepay(context(), prepayment('9000.00', 'c'));
    const { length } = await storyOf(world);
    for (const { loans } of [world, postAssignment({ store: world.store })]) {
      const again = (key: string) => loans.prepay(context('app-1', 'later'), prepayment('1000.00', key));
      expect(await again('a')).toEqual({ replayed: true, result: first.result });
      expect(await again('b')).toEqual({ replayed: true, result: second.result });
    }
    expect(await storyOf(world)).toHaveLength(length);
  });

  test('the one that came last is found at the end of a long stream', async () => {
    const world = postAssignment();
    await activate(world);
    const keys = Array.from({ length: 40 }, (_, n) => `k-${n}`);
    const results = new Map<string, unknown>();
    const read = jest.spyOn(world.store, 'read');
    for (const key of keys)
      results.set(key, (await world.loans.prepay(context(), prepayment('1.00', key))).result);
    expect(read).not.toHaveBeenCalled();
    const readBy = async (key: string): Promise<readonly unknown[]> => {
      read.mockClear();
      const again = await world.loans.prepay(context(), prepayment('1.00', key));
      expect(again).toEqual({ replayed: true, result: results.get(key) });
      return read.mock.calls.map(([, from]) => from);
    };
    // The last of 44 events is number 43.
    expect(await readBy('k-39')).toEqual([11n]);
    expect(await readBy('k-7')).toEqual([11n]);
    expect(await readBy('k-6')).toEqual([11n, 0n]);
  });

  test.each<[string, Parameters<typeof prepayment>[2]]>([
    ['another value', { prepaymentValue: cents(100_001) }],
    ['another date', { prepaymentDate: calendarDate('2026-06-21') }],
    ['another method', { paymentMethod: 'boleto' }],
    ['another operation', { code: 'L2' as LoanCode }],
    ['an operation that does not exist', { code: 'L3' as LoanCode }],
  ])('a used key with %s conflicts and changes nothing', async (_, change) => {
    const world = postAssignment();
    await activate(world);
    await activate(world, { code: 'L2' });
    await world.loans.prepay(context(), prepayment('1000.00'));
    const again = world.loans.prepay(context(), prepayment('1000.00', 'k-1', change));
    await expect(again).rejects.toMatchObject({ code: 'idempotency_conflict' });
    expect(await storyOf(world)).toHaveLength(5);
    expect(await storyOf(world, 'L2')).toHaveLength(4);
  });

  test('the same key of a settlement is another key', async () => {
    const world = postAssignment();
    await activate(world);
    const { code, idempotencyKey } = prepayment('1000.00');
    await world.loans.settle(context(), {
      code,
      idempotencyKey,
      installmentCode: '001' as never,
      settledAt: calendarDate('2026-02-15'),
      settledValue: cents(95_000),
      paymentMethod: 'pix',
    });
    const prepaid = await world.loans.prepay(context(), prepayment('1000.00'));
    expect(prepaid.replayed).toBe(false);
    expect(await world.loans.prepay(context(), prepayment('1000.00'))).toEqual({
      ...prepaid,
      replayed: true,
    });
  });

  test.each([
    ['2026-06-21', true],
    ['2026-06-22', false],
  ])('checked as in production on 2026-06-20, a payment of %s: accepted %s', async (date, accepted) => {
    const world = postAssignment();
    await activate(world);
    const paid = world.loans.prepay(
      { ...context(), strict: true },
      prepayment('100.00', 'k', { prepaymentDate: calendarDate(date) }),
    );
    if (accepted) expect((await paid).replayed).toBe(false);
    else await expect(paid).rejects.toMatchObject({ code: 'invalid_date' });
  });

  test('two at once: one executes, the other replays the same answer', async () => {
    const world = postAssignment();
    const other = postAssignment({ store: world.store });
    await activate(world);
    const all = await Promise.all(
      [world, world, other].map(({ loans }) => loans.prepay(context(), prepayment('1000.00'))),
    );
    expect(all.map(({ replayed }) => replayed).sort()).toEqual([false, true, true]);
    expect(new Set(all.map(({ result }) => JSON.stringify(result))).size).toBe(1);
    expect((await world.store.read(streamOf())).events).toHaveLength(5);
  });

  test('a prepayment accepted earlier is still answered once the operation has left', async () => {
    const world = postAssignment();
    await activate(world);
    const { result } = await world.loans.prepay(context(), prepayment('1000.00'));
    await world.loans.repurchase(context(), repurchase());
    expect(await world.loans.prepay(context(), prepayment('1000.00'))).toEqual({ replayed: true, result });
  });
});
