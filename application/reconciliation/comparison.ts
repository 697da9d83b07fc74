import type { CalendarDate } from '../../domain/shared/calendar-date.ts';
import type { NotifiedPayment, PaymentPeriod } from './reconciliation-reader.ts';
import type { Rule } from './matching.ts';
import type { PaymentKind } from '../../projections/loan/payment-writes.ts';
import type { Tolerances } from './match-rules.ts';

export const RESULTS = [
  'matched',
  'amount_differs',
  'missing_in_statement',
  'missing_in_notifications',
  'duplicate_in_statement',
  'duplicate_in_notifications',
] as const;
export type Result = (typeof RESULTS)[number];

export interface ShownPayment {
  readonly eventId: string;
  readonly kind: PaymentKind;
  readonly reason: NotifiedPayment['reason'];
  readonly code: string;
  readonly installment: string | null;
  readonly date: CalendarDate;
  readonly amount: number;
}

/** What became of one payment, of one line, or of a pair; a batch has as many findings as its larger side, one after the other. */
export interface Finding {
  readonly result: Result;
  readonly rule?: Rule;
  readonly match?: number;
  readonly payment?: ShownPayment;
  readonly line?: {
    readonly line: number;
    readonly date: CalendarDate;
    readonly amount: number;
    readonly reference: string;
  };
  /** Line of the statement, or event id, that a duplicate repeats. */
  readonly duplicateOf?: number | string;
}

export interface Remark {
  readonly remark: 'reversal_after_payments' | 'underpayment' | 'excess' | 'shortfall' | 'repurchase_pending';
  /** Received before the reversal, missing, above what was owed, still missing, or to be paid; cents. */
  readonly value: number;
  readonly owedValue: number;
  readonly payment: ShownPayment;
}

export interface Sum {
  readonly count: number;
  readonly amount: number;
}

/** One day and kind, each side by its own date. `unidentified`: lines that belong to no payment. */
export interface DayTotal {
  readonly date: CalendarDate;
  readonly kind: PaymentKind | 'unidentified';
  readonly notified: Sum;
  readonly statement: Sum;
}

export interface Comparison {
  readonly period: PaymentPeriod;
  readonly tolerances: Tolerances;
  readonly results: Readonly<Record<Result, Sum>>;
  readonly rules: Readonly<Record<Rule, number>>;
  readonly notified: Sum;
  readonly statement: Sum;
  /** Lines of the file that lie outside the period, and payments of none of its days explain. */
  readonly linesOutside: number;
  readonly clean: boolean;
  readonly totals: readonly DayTotal[];
  /** In the order of the results, each in the order of the notifications, then of the file. Computed while they are read. */
  findings(): Iterable<Finding>;
  remarks(): Iterable<Remark>;
}
