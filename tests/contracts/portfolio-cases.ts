import { expect } from '@jest/globals';
import { loanStream } from '../../application/command-handling/operation.ts';
import { loanDecider } from '../../domain/loan/index.ts';
import { calendarDate } from '../../domain/shared/calendar-date.ts';
import type { LoanCode, RenegotiationId } from '../../domain/shared/identifiers.ts';
import { centsOf, vectors } from '../domain/support/finance-vectors.ts';
import {
  approved,
  disbursed,
  paid,
  prepay,
  repurchaseCompleted,
  repurchaseRequested,
  termSigned,
} from '../domain/support/loan-story.ts';
import { positionOf, second } from '../projections/loan/projected-events.ts';
import { active, bought, firstFive } from './fund-side-samples.ts';
import type { FundUnderTest } from './fund-side-samples.ts';
import { portfolioSumCases } from './portfolio-sum-cases.ts';
import type { Promised } from './promises.ts';

const worked = (date: string, first: string) =>
  vectors.present_value[0]!.present_values.find(
    (vector) => vector.effective_date === date && vector.open[0] === first,
  )!;

const flow = (position: Awaited<ReturnType<FundUnderTest['on']>>, name: string) =>
  position.flows.find((one) => one.flow === name)!;

const vectorCases: readonly Promised<FundUnderTest>[] = [
  {
    name: 'open installments have the face and the present value of the worked case',
    check: async (fund) => {
      await fund.tell('L1', [...active(fund.loan('L1')), ...firstFive.map((code) => paid(code))]);
      const position = await fund.on('2026-06-20');
      const presentValueOfSeven = centsOf(worked('2026-06-20', '006').repurchase_value);
      expect(position.open).toEqual({
        installments: 7,
        faceValue: 665_000,
        presentValue: presentValueOfSeven,
      });
      expect(position.overdue.installments).toBe(0);
      expect(flow(position, 'settled').toDate).toEqual({ payments: 5, installments: 5, amount: 475_000 });
      expect(flow(position, 'settled').onDay.payments).toBe(0);
      expect(flow(await fund.on('2026-06-15'), 'settled').onDay.amount).toBe(95_000);
    },
  },
  {
    name: 'overdue installments stand in the bucket of their age',
    check: async (fund) => {
      await fund.tell('L1', [...active(fund.loan('L1')), ...firstFive.slice(0, 3).map((code) => paid(code))]);
      const { buckets, overdue, open } = await fund.on('2026-06-20');
      const { repurchase_value: value, lines } = worked('2026-06-20', '004');
      const [month, second] = buckets;
      expect(month).toMatchObject({ to: 30, installments: 1, presentValue: centsOf(lines[1]!) });
      expect(second).toMatchObject({ to: 60, installments: 1, presentValue: centsOf(lines[0]!) });
      expect(overdue.faceValue).toBe(190_000);
      expect(open.presentValue).toBe(centsOf(value));
    },
  },
  {
    name: 'an installment is overdue from the day after its due date, and its bucket changes after thirty days',
    check: async (fund) => {
      await fund.tell('L1', active(fund.loan('L1')));
      const youngest = async (date: string) => (await fund.on(date)).buckets.map((one) => one.installments);
      expect((await youngest('2026-02-15'))[0]).toBe(0);
      expect((await youngest('2026-02-16'))[0]).toBe(1);
      expect((await youngest('2026-03-17')).slice(0, 2)).toEqual([2, 0]);
      expect((await youngest('2026-03-18')).slice(0, 2)).toEqual([1, 1]);
    },
  },
  {
    name: 'a prepayment leaves what it left: the balance is the present value of that day',
    check: async (fund) => {
      const history = [...active(fund.loan('L1')), ...firstFive.map((code) => paid(code))];
      const state = history.reduce(
        (before, event) => loanDecider.evolve(before, event),
        loanDecider.initialState,
      );
      const vector = vectors.prepayment_on_L1.find((one) => one.prepayment_value === '3000.00')!;
      await fund.tell('L1', [
        ...history,
        ...loanDecider.decide(prepay(vector.prepayment_value, vector.prepayment_date), state),
      ]);
      const position = await fund.on(vector.prepayment_date);
      expect(position.open).toMatchObject({
        installments: 7 - vector.settled_installments.length,
        presentValue: centsOf(vector.remaining_balance),
      });
      expect(flow(position, 'prepaid').onDay).toEqual({ payments: 1, installments: 3, amount: 300_000 });
    },
  },
];

const lifeCases: readonly Promised<FundUnderTest>[] = [
  {
    name: 'an operation counts from the day on which the fund paid',
    check: async (fund) => {
      await fund.tell('L1', active(fund.loan('L1')));
      expect((await fund.on('2026-01-18')).operations).toBe(0);
      expect((await fund.on('2026-01-19')).operations).toBe(1);
      await fund.tell('L2', [fund.loan('L2'), approved, termSigned, disbursed]);
      expect((await fund.on('2026-06-19')).operations).toBe(1);
      expect((await fund.on('2026-06-20')).operations).toBe(2);
    },
  },
  {
    name: 'a repurchase counts once it is processed, and then from its effective date on',
    check: async (fund) => {
      const [, , , , request] = await fund.tell('L1', [
        ...active(fund.loan('L1')),
        repurchaseRequested('repurchase'),
      ]);
      const pending = await fund.on('2026-06-20');
      expect(pending.operations).toBe(1);
      expect(flow(pending, 'repurchased').toDate.payments).toBe(0);
      await fund.tell('L1', [repurchaseCompleted('repurchase', 'repurchased')], 5);
      const processed = await fund.on('2026-06-20');
      expect(processed.operations).toBe(0);
      expect(flow(processed, 'repurchased').onDay).toEqual({ payments: 1, installments: 0, amount: 614_733 });
      expect((await fund.on('2026-06-19')).operations).toBe(1);
      const asKnownBefore = await fund.on('2026-06-20', request!.recordedAt);
      expect(asKnownBefore).toEqual({ ...pending, knownAt: request!.recordedAt });
    },
  },
  {
    name: 'what is recorded later changes a past day, and knowing only what was known gives the earlier answer again',
    check: async (fund) => {
      await fund.tell('L1', active(fund.loan('L1')));
      const before = await fund.on('2026-03-01', second(10));
      await fund.tell('L1', [paid('001')], 20);
      expect((await fund.on('2026-03-01')).open.installments).toBe(11);
      expect(await fund.on('2026-03-01', second(10))).toEqual(before);
      expect(before.open.installments).toBe(12);
    },
  },
  {
    name: 'a renegotiated operation leaves on the day on which its successor comes in',
    check: async (fund) => {
      await fund.tell('OLD', active(fund.loan('OLD')));
      const renegotiation = {
        renegotiationId: 'r-1' as RenegotiationId,
        originalProposalCodes: ['OLD' as LoanCode],
        newProposalCode: 'NEW' as LoanCode,
        effectiveDate: calendarDate('2026-03-01'),
      };
      const paidOut = { ...bought, disbursementDate: calendarDate('2026-03-05'), renegotiation };
      const next = fund.loan('NEW', { installments: fund.loan('NEW').installments.slice(3) });
      await fund.tell('NEW', [next, approved, termSigned, paidOut]);
      const held = async (date: string) => {
        const { operations, open } = await fund.on(date);
        return [operations, open.installments];
      };
      expect(await held('2026-03-04')).toEqual([1, 12]);
      expect(await held('2026-03-05')).toEqual([1, 9]);
    },
  },
  {
    name: 'the same code of another application stays where it is when a renegotiation replaces its namesake',
    check: async (fund) => {
      const other = `${fund.applicationId}-other`;
      const events = active({ ...fund.loan('OLD'), applicationId: other as never });
      const stream = loanStream(other, 'OLD');
      await fund.project(
        events.map((event, revision) => ({
          ...{ event, stream, id: `${stream}/${revision}`, applicationId: other },
          ...{
            revision: BigInt(revision),
            recordedAt: second(revision),
            position: positionOf(stream, revision),
          },
        })),
      );
      await fund.tell('NEW', [
        fund.loan('NEW'),
        approved,
        termSigned,
        {
          ...bought,
          renegotiation: {
            renegotiationId: 'r-2' as RenegotiationId,
            originalProposalCodes: ['OLD' as LoanCode],
            newProposalCode: 'NEW' as LoanCode,
            effectiveDate: calendarDate('2026-01-19'),
          },
        },
      ]);
      expect((await fund.on('2026-02-01')).operations).toBe(2);
    },
  },
];

const analysisCases: readonly Promised<FundUnderTest>[] = [
  {
    name: 'what a position is made of adds up to it: months, applications and the largest operations, across pages',
    check: async (fund) => {
      for (const code of ['L1', 'L2', 'L3']) await fund.tell(code, active(fund.loan(code)));
      for (const code of ['001', '002']) await fund.tell('L2', [paid(code)], 20 + Number(code));
      const date = calendarDate('2026-06-20');
      const { position, received, due, applications, largest } = await fund.analysed(date);
      expect(position).toEqual(await fund.on(date));
      expect(received.map(({ amount }) => amount)).toEqual([95_000, 95_000]);
      expect(received.map(({ month }) => month)).toEqual(received.map(({ month }) => month).toSorted());
      const sum = (key: 'installments' | 'faceValue' | 'presentValue') =>
        due.reduce((total, one) => total + one[key], 0);
      expect({
        installments: sum('installments'),
        faceValue: sum('faceValue'),
        presentValue: sum('presentValue'),
      }).toEqual(position.open);
      expect(due.map(({ month }) => month)).toEqual(due.map(({ month }) => month).toSorted());
      const { presentValue } = position.open;
      expect(applications).toEqual([{ name: fund.applicationId, operations: 3, presentValue }]);
      expect(largest.map(({ code }) => code).toSorted()).toEqual(['L1', 'L2', 'L3']);
      expect(largest.at(-1)!.code).toBe('L2');
      expect(largest.reduce((total, one) => total + one.presentValue, 0)).toBe(presentValue);
    },
  },
];

const compositionCases: readonly Promised<FundUnderTest>[] = [
  {
    name: 'operations are told by product, and by the state in which they were recorded to be at the end of the day',
    check: async (fund) => {
      await fund.tell('L1', active(fund.loan('L1')));
      await fund.tell('L2', active(fund.loan('L2', { productType: 'consignado' })));
      await fund.tell('L3', [...active(fund.loan('L3')), repurchaseRequested('repurchase')]);
      const made = async (date: string) => {
        const { states, products } = await fund.analysed(date);
        return [states, products].map((parts) => parts.map(({ name, operations }) => [name, operations]));
      };
      // Bought on 19 January, recorded in June: GET /loan says so of each of these days.
      expect(await made('2026-03-01')).toEqual([
        [['active', 3]],
        [
          ['financing', 2],
          ['consignado', 1],
        ],
      ]);
      expect((await made('2026-06-20'))[0]).toEqual([
        ['active', 2],
        ['repurchase_pending', 1],
      ]);
    },
  },
  {
    name: 'the largest borrowers come with all their operations, then the others, and those that were forgotten apart',
    check: async (fund) => {
      const held = 24;
      const streamOf = (n: number): string => loanStream(fund.applicationId, `L${n}`);
      for (let n = 0; n < held; n += 1) await fund.tell(`L${n}`, active(fund.loan(`L${n}`)));
      // Two operations of one borrower, one that is forgotten, and twenty-one of a borrower each.
      for (let n = 1; n < held; n += 1) fund.borrowers.set(streamOf(n), n <= 2 ? 'both' : `borrower ${n}`);
      await fund.tell('L1', [paid('001')], 20);
      const { concentration, position } = await fund.analysed('2026-06-20');
      const { borrowers, others, unknown } = concentration;
      const each = unknown.presentValue;
      expect(unknown.operations).toBe(1);
      expect(borrowers).toHaveLength(20);
      expect(borrowers[0]).toMatchObject({
        operations: 2,
        largest: { stream: streamOf(2), presentValue: each },
      });
      expect(borrowers.slice(1).map(({ presentValue }) => presentValue)).toEqual(Array(19).fill(each));
      expect(others).toEqual({ borrowers: 2, operations: 2, presentValue: 2 * each });
      const all = [...borrowers, others, unknown].reduce((sum, one) => sum + one.presentValue, 0);
      expect(all).toBe(position.open.presentValue);
    },
  },
];

export const portfolioCases: readonly Promised<FundUnderTest>[] = [
  ...vectorCases,
  ...lifeCases,
  ...analysisCases,
  ...compositionCases,
  ...portfolioSumCases,
];
