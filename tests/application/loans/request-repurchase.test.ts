import { describe, expect, test } from '@jest/globals';
import { REPURCHASE_REASONS } from '../../../domain/loan/exits.ts';
import { calendarDate } from '../../../domain/shared/calendar-date.ts';
import type { LoanCode } from '../../../domain/shared/identifiers.ts';
import { cents } from '../../../domain/shared/money.ts';
import { centsOf, vectors } from '../../domain/support/finance-vectors.ts';
import { completeRepurchase } from '../../domain/support/loan-story.ts';
import { NOW, context, openlySealed } from '../../support/application-parts.ts';
import {
  activate,
  carryOut,
  postAssignment,
  repurchase,
  storyOf,
  streamOf,
} from '../../support/post-assignment.ts';

const cases = vectors.present_value.flatMap((vector) =>
  vector.present_values.map((value) => ({ vector, ...value, name: vector.name })),
);
const paidUntilMay = ['001', '002', '003', '004', '005'];

describe('request a repurchase', () => {
  test.each(cases)(
    '$name on $effective_date: the value and its lines follow the curve',
    async ({ vector, open, ...v }) => {
      const world = postAssignment();
      const paid = vector.installments.map(({ code }) => code).filter((code) => !open.includes(code));
      await activate(world, { vector, paid });
      const { result } = await world.loans.repurchase(
        context(),
        repurchase({ effectiveDate: calendarDate(v.effective_date) }),
      );
      expect(result).toEqual({
        code: 'L1',
        status: 'repurchase_pending',
        reason: 'repurchase',
        repurchaseValue: centsOf(v.repurchase_value),
        calculatedAt: '2026-06-20T12:00:00.000Z',
      });
      const event = (await storyOf(world)).at(-1);
      expect(event).toMatchObject({
        type: 'RepurchaseRequested',
        valueSource: 'calculated',
        pricing: { policy: 'curve_v1', dailyFactor: vector.daily_factor },
        lines: v.lines.map((line, i) => ({ installmentCode: open[i], presentValue: centsOf(line) })),
      });
    },
  );

  test.each([
    ['repurchase', 'repurchased', '6147.33'],
    ['integrated_repurchase', 'repurchased', '6147.33'],
    ['cession_reversal', 'reversed', vectors.cession_reversal_on_L1],
    ['resolution', 'resolved', '5250.00'],
  ] as const)(
    '%s ends in %s for %s; a replay tells the end and the first value',
    async (reason, end, value) => {
      const world = postAssignment();
      await activate(world, { paid: paidUntilMay });
      const first = await world.loans.repurchase(context(), repurchase({ reason }));
      expect(first.result.repurchaseValue).toBe(centsOf(value));
      await carryOut(world, completeRepurchase);
      for (const process of [world, postAssignment({ store: world.store })]) {
        const again = await process.loans.repurchase(context('app-1', 'later'), repurchase({ reason }));
        expect(again).toEqual({ replayed: true, result: { ...first.result, status: end } });
      }
      expect((await storyOf(world)).map(({ type }) => type).slice(-2)).toEqual([
        'RepurchaseRequested',
        'RepurchaseCompleted',
      ]);
    },
  );

  test('an informed value counts, and the calculated one is kept beside it', async () => {
    const world = postAssignment();
    await activate(world, { paid: paidUntilMay });
    const input = repurchase({ repurchaseValue: cents(600_000), reasonDetail: 'agreed with the originator' });
    expect((await world.loans.repurchase(context(), input)).result.repurchaseValue).toBe(600_000);
    expect((await storyOf(world)).at(-1)).toMatchObject({
      repurchaseValue: 600_000,
      calculatedValue: 614_733,
      valueSource: 'informed',
      reasonDetail: openlySealed(streamOf(), 'agreed with the originator'),
    });
  });

  test.each<[string, Parameters<typeof repurchase>[0]]>([
    ['another reason', { reason: 'resolution' }],
    ['another date', { effectiveDate: calendarDate('2026-06-21') }],
    ['an informed value', { repurchaseValue: cents(614_733) }],
    ['a reason detail', { reasonDetail: 'x' }],
    ['another operation', { code: 'L2' as LoanCode }],
  ])('a used key with %s conflicts', async (_, change) => {
    const world = postAssignment();
    await activate(world);
    await activate(world, { code: 'L2' });
    await world.loans.repurchase(context(), repurchase());
    await expect(world.loans.repurchase(context(), repurchase(change))).rejects.toMatchObject({
      code: 'idempotency_conflict',
    });
    expect(await storyOf(world, 'L2')).toHaveLength(4);
  });

  test.each(REPURCHASE_REASONS)('a second request under a new key (%s) is refused', async (reason) => {
    const world = postAssignment();
    await activate(world);
    await world.loans.repurchase(context(), repurchase());
    const second = world.loans.repurchase(context(), repurchase({ reason, idempotencyKey: 'r-2' }));
    await expect(second).rejects.toMatchObject({
      code: 'operation_invalid_state',
      message: expect.stringContaining('repurchase_pending'),
    });
  });

  test('once the borrower is forgotten, a remark is taken and not kept', async () => {
    const world = postAssignment();
    await activate(world);
    await carryOut(world, { type: 'ForgetBorrower', now: NOW });
    const input = repurchase({ reasonDetail: 'Ana asked for it' });
    expect((await world.loans.repurchase(context(), input)).replayed).toBe(false);
    expect(JSON.stringify(await storyOf(world))).not.toContain('Ana asked');
    expect((await world.loans.repurchase(context(), input)).replayed).toBe(true);
  });

  test('before the issue it is refused, whatever the reason', async () => {
    const world = postAssignment();
    await activate(world);
    for (const reason of REPURCHASE_REASONS) {
      const input = repurchase({ reason, effectiveDate: calendarDate('2026-01-14') });
      await expect(world.loans.repurchase(context(), input)).rejects.toMatchObject({
        code: 'invalid_date',
      });
    }
  });

  test('two at once: one executes, the other replays', async () => {
    const world = postAssignment();
    const other = postAssignment({ store: world.store });
    await activate(world);
    const all = await Promise.all(
      [world, world, other].map((process) => process.loans.repurchase(context(), repurchase())),
    );
    expect(all.map(({ replayed }) => replayed).sort()).toEqual([false, true, true]);
    expect(await storyOf(world)).toHaveLength(5);
  });
});
