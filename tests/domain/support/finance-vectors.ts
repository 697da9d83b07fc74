import { readFileSync } from 'node:fs';
import type { OpenInstallment, ScheduledInstallment } from '../../../domain/installment/installment.ts';
import { calendarDate } from '../../../domain/shared/calendar-date.ts';
import type { InstallmentCode } from '../../../domain/shared/identifiers.ts';
import { cents } from '../../../domain/shared/money.ts';
import type { Cents } from '../../../domain/shared/money.ts';

interface PresentValueVector {
  readonly effective_date: string;
  readonly open: readonly string[];
  readonly repurchase_value: string;
  readonly lines: readonly string[];
}
export interface LoanVector {
  readonly name: string;
  readonly acquisition_value: string;
  readonly date_issued: string;
  readonly installments: readonly {
    readonly code: string;
    readonly due_date: string;
    readonly face_value: string;
  }[];
  readonly daily_factor: string;
  readonly annual_effective_rate: string;
  readonly present_values: readonly PresentValueVector[];
}
interface PrepaymentVector {
  readonly name: string;
  readonly prepayment_date: string;
  readonly paid_in_full_before: readonly string[];
  readonly prepayment_value: string;
  readonly settled_installments: readonly string[];
  readonly partial: { readonly installment_code: string; readonly outstanding_at_due: string } | null;
  readonly remaining_balance: string;
  readonly excess_value: string;
  readonly loan_settled: boolean;
}
interface FinanceVectors {
  readonly present_value: readonly LoanVector[];
  readonly prepayment_on_L1: readonly PrepaymentVector[];
  readonly resolution_on_L1: readonly {
    readonly received: readonly string[];
    readonly repurchase_value: string;
  }[];
  readonly cession_reversal_on_L1: string;
}

const file = new URL('../../fixtures/finance-vectors.json', import.meta.url);
export const vectors = JSON.parse(readFileSync(file, 'utf8')) as FinanceVectors;

/** Cents of a text with two decimals, without any arithmetic of the code under test. */
export const centsOf = (text: string): Cents => cents(Number(text.replace('.', '')));

export const scheduleOf = (loan: LoanVector): readonly ScheduledInstallment[] =>
  loan.installments.map(({ code, due_date, face_value }) => ({
    code: code as InstallmentCode,
    dueDate: calendarDate(due_date),
    faceValue: centsOf(face_value),
  }));

export const opened = (installment: ScheduledInstallment): OpenInstallment => ({
  ...installment,
  status: 'pending',
  credits: [],
});

const [first] = vectors.present_value;
if (!first) throw new Error('the vectors begin with L1');
/** 10000.00 for twelve monthly installments of 950.00. */
export const L1: LoanVector = first;
