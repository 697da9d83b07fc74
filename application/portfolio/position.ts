import type { CalendarDate } from '../../domain/shared/calendar-date.ts';
import type { PortfolioFlow } from '../../projections/portfolio/portfolio-rows.ts';

/**
 * Days past the due date, as the monthly report of receivables funds to the Brazilian regulator splits them (instruction CVM 576,
 * annex A). The last bucket has no end.
 */
export const OVERDUE_BUCKETS = [
  { from: 1, to: 30 },
  { from: 31, to: 60 },
  { from: 61, to: 90 },
  { from: 91, to: 120 },
  { from: 121, to: 150 },
  { from: 151, to: 180 },
  { from: 181, to: 360 },
  { from: 361, to: 720 },
  { from: 721, to: 1080 },
  { from: 1081, to: null },
] as const;

/** Amounts in integer cents; face values without what prepayments took off, present values with it. */
export interface Held {
  readonly installments: number;
  readonly faceValue: number;
  readonly presentValue: number;
}

export interface OverdueBucket extends Held {
  readonly from: number;
  /** Null for the bucket without an end. */
  readonly to: number | null;
}

export interface Flow {
  readonly flow: PortfolioFlow;
  readonly onDay: FlowSum;
  /** Up to the end of the day, the day included. */
  readonly toDate: FlowSum;
}

export interface FlowSum {
  readonly payments: number;
  readonly installments: number;
  readonly amount: number;
}

/** What a fund held at the end of a day, and what it got. */
export interface FundPosition {
  readonly fundId: string;
  readonly date: CalendarDate;
  readonly knownAt: string;
  /** With at least one open installment. */
  readonly operations: number;
  readonly open: Held;
  readonly overdue: Held;
  /** Youngest first; all of them, also those that are empty. */
  readonly buckets: readonly OverdueBucket[];
  /** All sorts, in a fixed order. */
  readonly flows: readonly Flow[];
}
