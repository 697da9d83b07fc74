import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from '@jest/globals';
import type { LoanEvent } from '../../domain/loan/events.ts';
import { calendarDate } from '../../domain/shared/calendar-date.ts';
import type { InstallmentCode } from '../../domain/shared/identifiers.ts';
import { cents } from '../../domain/shared/money.ts';
import {
  FUND,
  projected,
  receivedLoan,
  second,
  settled,
  toActive,
} from '../projections/loan/projected-events.ts';
import { assign, newOperation } from './loan-reader-samples.ts';
import type { LoanReaderCase } from './loan-reader-samples.ts';

const pricing = { policy: 'curve_v1', dailyFactor: '0.999' } as const;

const credit = (code: string, value: string, date: string): LoanEvent => ({
  type: 'PrepaymentProcessed',
  prepaymentValue: cents(5_000),
  prepaymentDate: calendarDate(date),
  paymentMethod: 'boleto',
  settledInstallments: [],
  partial: {
    installmentCode: code as InstallmentCode,
    credit: { value, date: calendarDate(date) },
    outstandingAtDue: cents(1),
  },
  payoffValue: cents(20_000),
  remainingBalance: cents(15_000),
  excessValue: cents(0),
  pricing,
  lines: [],
  processedAt: second(9),
});

const repurchaseRequested: LoanEvent = {
  type: 'RepurchaseRequested',
  reason: 'resolution',
  effectiveDate: calendarDate('2026-03-01'),
  repurchaseValue: cents(12_345),
  calculatedValue: cents(12_400),
  valueSource: 'informed',
  pricing,
  lines: [],
  receivedValue: cents(0),
  calculatedAt: second(20),
};
const repurchaseCompleted: LoanEvent = {
  type: 'RepurchaseCompleted',
  reason: 'resolution',
  repurchaseValue: cents(12_345),
  status: 'resolved',
  completedAt: second(30),
};

const whole: readonly LoanReaderCase[] = [
  {
    name: 'an operation that was never assigned is not found',
    check: async ({ reader }) => {
      expect(await reader.find(newOperation().applicationId, 'OP-1')).toBeUndefined();
    },
  },
  {
    name: 'the operation of one application is not found for another',
    check: async (fixture) => {
      const operation = newOperation();
      await assign(fixture, operation);
      expect(await fixture.reader.find(newOperation().applicationId, operation.code)).toBeUndefined();
      expect(await fixture.reader.find(operation.applicationId, operation.code)).toBeDefined();
    },
  },
  {
    name: 'codes are compared byte by byte, whatever signs they hold',
    check: async (fixture) => {
      const { applicationId } = newOperation();
      const codes = ['op-1', 'OP-1', 'OP.1', 'OP~2e1', 'OP_1', '%41', 'a+b=c;(d)'];
      for (const code of codes) await assign(fixture, { applicationId, code });
      for (const code of codes) {
        expect((await fixture.reader.find(applicationId, code))?.loan.code).toBe(code);
      }
      expect(await fixture.reader.find(applicationId, 'Op-1')).toBeUndefined();
    },
  },
  {
    name: 'a received operation is read with everything it was assigned with',
    check: async (fixture) => {
      const operation = newOperation();
      await assign(fixture, operation);
      const installment = {
        face_value: 10_000,
        ...nothingOf('status', 'settled_at', 'settled_value', 'payment_method'),
        credits: '[]',
      };
      expect(await fixture.reader.find(operation.applicationId, operation.code)).toEqual({
        loan: {
          ...nothingOf('rejection_reasons', 'disbursement', 'repurchase', 'repurchase_completed_at'),
          ...nothingOf('renegotiation', 'active_date', 'active_at', 'active_recorded_at'),
          ...nothingOf('left_date', 'left_at', 'left_recorded_at'),
          id: expect.any(Number),
          stream: `loan-${operation.applicationId}.OP-1`,
          application_id: operation.applicationId,
          code: 'OP-1',
          fund_id: FUND,
          status: 'received',
          product_type: 'financing',
          acquisition_value: 18_000,
          number_of_installments: 2,
          date_issued: '2026-01-15',
          daily_factor: '0.999',
          borrower: 'sealed borrower',
          received_at: second(0),
          updated_at: second(0),
          received_value: 0,
          waiting_since: second(0),
          reason_detail: '',
          version: 0,
        },
        installments: [
          { code: 'P1', seq: 0, due_date: '2026-01-28', ...installment },
          { code: 'P2', seq: 1, due_date: '2026-02-28', ...installment },
        ],
        prepayments: [],
        documents: [
          {
            document_id: 'OP-1-z',
            type: 'ccb',
            value: '"ccb.pdf"',
            sha256: 'ab'.repeat(32),
            size: 9,
            received_at: second(0),
          },
          {
            document_id: 'OP-1-a',
            type: 'invoice',
            value: '"a.pdf"',
            sha256: 'cd'.repeat(32),
            size: 8,
            received_at: second(0),
          },
        ],
        statusHistory: [{ status: 'received', at: second(0) }],
      });
    },
  },
];

const parts: readonly LoanReaderCase[] = [
  {
    name: 'installments come in the order of the schedule, and the history in the order of what happened',
    check: async (fixture) => {
      const operation = newOperation();
      await assign(fixture, operation, { count: 12, then: toActive });
      const view = await fixture.reader.find(operation.applicationId, operation.code);
      expect(view?.installments.map(({ code }) => code)).toEqual(
        Array.from({ length: 12 }, (_, i) => `P${i + 1}`),
      );
      expect(view?.statusHistory).toEqual([
        { status: 'received', at: second(0) },
        { status: 'approved', at: second(1) },
        { status: 'term_signed', at: second(2) },
        { status: 'active', at: second(3) },
      ]);
    },
  },
  {
    name: 'an installment carries its prepayment credits as JSON, oldest first',
    check: async (fixture) => {
      const operation = newOperation();
      const credits = [credit('P2', '12.5', '2026-01-20'), credit('P2', '0.000000001', '2026-01-25')];
      await assign(fixture, operation, { then: [...toActive, ...credits] });
      const view = await fixture.reader.find(operation.applicationId, operation.code);
      expect(view?.installments.map((row) => JSON.parse(row.credits) as unknown)).toEqual([
        [],
        [
          { value: '12.5', date: '2026-01-20' },
          { value: '0.000000001', date: '2026-01-25' },
        ],
      ]);
    },
  },
  {
    name: 'prepayments come in the order in which they were notified, whatever their dates',
    check: async (fixture) => {
      const operation = newOperation();
      const prepayments = [credit('P2', '12.5', '2026-01-25'), credit('P2', '3', '2026-01-20')];
      await assign(fixture, operation, { then: [...toActive, ...prepayments] });
      const view = await fixture.reader.find(operation.applicationId, operation.code);
      const row = { value: 5_000, settled_installments: '[]', excess_value: 0 };
      expect(view?.prepayments).toEqual([
        { ...row, date: '2026-01-25' },
        { ...row, date: '2026-01-20' },
      ]);
    },
  },
  {
    name: 'what the fund paid is JSON in cents from the disbursement on',
    check: async (fixture) => {
      const operation = newOperation();
      await assign(fixture, operation, { then: toActive });
      const { disbursement } = (await fixture.reader.find(operation.applicationId, operation.code))!.loan;
      expect(JSON.parse(disbursement ?? '')).toEqual({ value: 9_000, disbursedAt: second(3) });
    },
  },
  {
    name: 'a repurchase is JSON in cents, with its completion beside it once there is one',
    check: async (fixture) => {
      const operation = newOperation();
      const { applicationId, code } = operation;
      const request = {
        reason: 'resolution',
        effectiveDate: '2026-03-01',
        repurchaseValue: 12_345,
        calculatedValue: 12_400,
        calculatedAt: second(20),
      };
      await assign(fixture, operation, { then: [...toActive, repurchaseRequested] });
      const pending = (await fixture.reader.find(applicationId, code))?.loan;
      expect(pending?.status).toBe('repurchase_pending');
      expect(JSON.parse(pending?.repurchase ?? '')).toEqual(request);
      expect(pending?.repurchase_completed_at).toBeNull();

      await fixture.project(projected(operation, [repurchaseCompleted], 5));
      const completed = (await fixture.reader.find(applicationId, code))?.loan;
      expect(completed).toMatchObject({
        status: 'resolved',
        version: 5,
        repurchase: pending?.repurchase,
        repurchase_completed_at: second(30),
      });
    },
  },
  {
    name: 'a rejection carries its reasons as JSON',
    check: async (fixture) => {
      const operation = newOperation();
      const reasons = [{ code: 'fund_closed', message: 'não há vagas' }];
      await assign(fixture, operation, { then: [{ type: 'LoanRejected', rejectedAt: second(1), reasons }] });
      const view = await fixture.reader.find(operation.applicationId, operation.code);
      expect(JSON.parse(view?.loan.rejection_reasons ?? '')).toEqual(reasons);
    },
  },
];

const INSTALLMENTS = 250;

const consistency: LoanReaderCase = {
  name: 'an operation that changes while it is read is read as it was at one moment',
  check: async (fixture) => {
    const operation = newOperation();
    await assign(fixture, operation, { count: INSTALLMENTS, then: toActive });
    let [writing, torn] = [true, false];
    const read = async (): Promise<void> => {
      while (writing) {
        const view = await fixture.reader.find(operation.applicationId, operation.code);
        const paid = view?.installments.filter(({ status }) => status === 'settled').length ?? -1;
        expect(view?.loan).toMatchObject({ version: 3 + paid, received_value: 10_000 * paid });
        // Lets answers to the writes in, which a loop of reads in this thread would hold up.
        await nextTurn();
      }
    };
    const settle = async (): Promise<void> => {
      for (let i = 0; i < INSTALLMENTS && !torn; i++) {
        await fixture.project(projected(operation, [settled(`P${i + 1}`)], 4 + i));
      }
      writing = false;
    };
    // Both come to their end before the first failure is reported, so that nothing runs on into the next case.
    const reading = read().catch((error: unknown) => {
      torn = true;
      throw error;
    });
    for (const outcome of await Promise.allSettled([reading, settle()])) {
      if (outcome.status === 'rejected') throw outcome.reason;
    }
  },
};

const nothingOf = (...columns: readonly string[]): object =>
  Object.fromEntries(columns.map((column) => [column, null]));

export const loanFindCases: readonly LoanReaderCase[] = [
  ...whole,
  ...parts,
  consistency,
  {
    name: 'an operation of 480 installments is read whole',
    check: async (fixture) => {
      const operation = newOperation();
      await fixture.project(projected(operation, [receivedLoan(operation, 480)]));
      const view = await fixture.reader.find(operation.applicationId, operation.code);
      expect(view?.installments.map(({ seq }) => seq)).toEqual(Array.from({ length: 480 }, (_, i) => i));
    },
  },
];
