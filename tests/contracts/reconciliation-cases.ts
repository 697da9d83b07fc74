import { expect } from '@jest/globals';
import { loanDecider } from '../../domain/loan/index.ts';
import type { LoanEvent } from '../../domain/loan/index.ts';
import { calendarDate } from '../../domain/shared/calendar-date.ts';
import type { NotifiedPayment } from '../../application/reconciliation/reconciliation-reader.ts';
import {
  approved,
  disbursed,
  paid,
  prepay,
  repurchaseCompleted,
  repurchaseRequested,
  settle,
  termSigned,
  underpaid,
} from '../domain/support/loan-story.ts';
import type { FundUnderTest } from './fund-side-samples.ts';
import type { Promised } from './promises.ts';

const active = (fund: FundUnderTest, code: string): readonly LoanEvent[] => [
  fund.loan(code),
  approved,
  termSigned,
  disbursed,
];

const all = async (fund: FundUnderTest, from = '2026-01-01', to = '2027-12-31') => {
  const rows: NotifiedPayment[] = [];
  const period = { fundId: fund.fundId, from: calendarDate(from), to: calendarDate(to) };
  for await (const page of fund.payments.within(period)) rows.push(...page);
  return rows;
};

const brief = ({ code, kind, date, amount }: NotifiedPayment) => [code, kind, date, amount];

export const reconciliationCases: readonly Promised<FundUnderTest>[] = [
  {
    name: 'payments come by date and operation, across pages, each once',
    check: async (fund) => {
      for (const code of ['B', 'A', 'C'])
        await fund.tell(code, [...active(fund, code), paid('001'), paid('002', '940.00', '2026-02-15')]);
      const expected = ['A', 'B', 'C'].flatMap((code) => [
        [code, 'settlement', '2026-02-15', 95_000],
        [code, 'settlement', '2026-02-15', 94_000],
      ]);
      expect((await all(fund)).map(brief)).toEqual(expected);
      expect(await all(fund, '2026-02-16')).toEqual([]);
    },
  },
  {
    name: 'a settlement is kept with what was owed and what is missing or above it',
    check: async (fund) => {
      await fund.tell('A', [
        ...active(fund, 'A'),
        paid('001', '900.00'),
        underpaid('001', '900.00', '50.00'),
        paid('002', '1000.00'),
      ]);
      expect(await all(fund)).toMatchObject([
        { installment_code: '001', owed_value: 95_000, underpaid_value: 5_000, excess_value: 0 },
        { installment_code: '002', owed_value: 95_000, underpaid_value: 0, excess_value: 5_000 },
      ]);
    },
  },
  {
    name: 'a prepayment is kept with its excess, or with what it lacks for the installment that it reached',
    check: async (fund) => {
      const history = [
        ...active(fund, 'A'),
        ...['001', '002', '003', '004', '005'].map((code) => paid(code)),
      ];
      const state = history.reduce(
        (before, event) => loanDecider.evolve(before, event),
        loanDecider.initialState,
      );
      await fund.tell('A', [...history, ...loanDecider.decide(prepay('3000.00'), state)]);
      const renamed = history.map((event) => (event.type === 'LoanReceived' ? fund.loan('B') : event));
      await fund.tell('B', [...renamed, ...loanDecider.decide(prepay('7000.00'), state)]);
      // 012, 011, 010 and 009 are worth 3403.15 together, computed apart with 50-digit decimals; 3000.00 reached into 009.
      expect(await all(fund, '2026-06-20')).toMatchObject([
        { code: 'A', kind: 'prepayment', amount: 300_000, owed_value: 614_733, shortfall_value: 40_315 },
        { code: 'B', kind: 'prepayment', amount: 700_000, excess_value: 85_267, shortfall_value: 0 },
      ]);
    },
  },
  {
    name: 'a repurchase is kept with its reason, what was received before, and when it was processed',
    check: async (fund) => {
      await fund.tell('A', [...active(fund, 'A'), repurchaseRequested('cession_reversal')]);
      const request = { reason: 'cession_reversal', received_before: 475_000, amount: 614_733 };
      expect(await all(fund)).toMatchObject([{ ...request, completed_at: null }]);
      const completed = repurchaseCompleted('cession_reversal', 'reversed');
      await fund.tell('A', [completed], 5);
      expect(await all(fund)).toMatchObject([{ ...request, completed_at: completed.completedAt }]);
    },
  },
  {
    name: 'operations are known by their code, paid or not, and only to their fund',
    check: async (fund) => {
      await fund.tell('A', active(fund, 'A'));
      expect(await fund.payments.operationsAmong(fund.fundId, ['A', 'B'])).toEqual(['A']);
      expect(await fund.payments.operationsAmong('another fund', ['A'])).toEqual([]);
    },
  },
  {
    name: 'installments of operations are known by their code, paid or not, and only to their fund',
    check: async (fund) => {
      await fund.tell('A', active(fund, 'A'));
      const found = async (fundId: string) =>
        (await Array.fromAsync(fund.payments.installmentsOf(fundId, ['A', 'B']))).flat();
      const planned = fund.loan('A').installments.map(({ code }) => ({ code: 'A', installment: code }));
      const byName = (all: readonly { readonly installment: string }[]) =>
        all.toSorted((a, b) => (a.installment < b.installment ? -1 : 1));
      expect(byName(await found(fund.fundId))).toEqual(planned);
      expect(await found('another fund')).toEqual([]);
    },
  },
  {
    name: 'amounts stay whole numbers up to the highest',
    check: async (fund) => {
      const highest = '999999999.99';
      const state = active(fund, 'A').reduce(
        (before, event) => loanDecider.evolve(before, event),
        loanDecider.initialState,
      );
      await fund.tell('A', [...active(fund, 'A'), ...loanDecider.decide(settle('001', highest), state)]);
      expect((await all(fund))[0]?.amount).toBe(99_999_999_999);
    },
  },
];
