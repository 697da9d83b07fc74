import { describe, expect, test } from '@jest/globals';
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

const paidUntilMay = ['001', '002', '003', '004', '005'];

describe('request a repurchase', () => {
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

  test('once the borrower is forgotten, a remark is taken and not kept', async () => {
    const world = postAssignment();
    await activate(world);
    await carryOut(world, { type: 'ForgetBorrower', now: NOW });
    const input = repurchase({ reasonDetail: 'Ana asked for it' });
    expect((await world.loans.repurchase(context(), input)).replayed).toBe(false);
    expect(JSON.stringify(await storyOf(world))).not.toContain('Ana asked');
    expect((await world.loans.repurchase(context(), input)).replayed).toBe(true);
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
