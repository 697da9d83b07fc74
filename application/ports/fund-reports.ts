import type { OpenAmount } from '../../domain/curve/present-value.ts';
import type { CalendarDate } from '../../domain/shared/calendar-date.ts';
import type { PortfolioFlow } from '../../projections/portfolio/portfolio-projection.ts';
import type { NotifiedPaymentRow } from '../../projections/reconciliation/reconciliation-projection.ts';
import type { StatementLine } from '../reconciliation/statement-lines.ts';

export interface PositionQuery {
  readonly fundId: string;
  /** The position at the end of this day. */
  readonly date: CalendarDate;
  /** First instant after that day in America/Sao_Paulo. */
  readonly endOfDay: string;
  /** Only what was recorded up to this instant. */
  readonly knownAt: string;
}

/** An operation of the fund with the installments that were open, in schedule order. */
export interface OpenPosition {
  readonly stream: string;
  readonly dailyFactor: string;
  readonly open: readonly OpenAmount[];
}

/** Money of one sort that came in on the day of the query, or on all days before it; amounts in integer cents, net of excess. */
export interface FlowTotal {
  readonly flow: PortfolioFlow;
  readonly onDay: boolean;
  readonly payments: number;
  /** Closed by these payments. */
  readonly installments: number;
  readonly amount: number;
}

/** `month` as in 2026-06; amount in integer cents, net of excess. */
export interface MonthlySum {
  readonly month: string;
  readonly amount: number;
}

/** Reads of the portfolio read model. */
export interface PortfolioPositions {
  /** Operations with at least one open installment, in pages, ordered by stream. */
  openOn(query: PositionQuery): AsyncIterable<readonly OpenPosition[]>;
  /** One entry for each sort that occurred on the day, and one for each that occurred before it. */
  flows(query: PositionQuery): Promise<readonly FlowTotal[]>;
  /** What came in up to the day of the query, by the month of its date; oldest first. */
  receivedByMonth(query: PositionQuery): Promise<readonly MonthlySum[]>;
}

/** What is known of an operation beside its money. */
export interface Standing {
  readonly stream: string;
  readonly productType: string;
  /** As `GET /loan` showed it at that instant; undefined where it was recorded later. */
  readonly status: string | undefined;
  /** Sealed; empty once the borrower was forgotten. */
  readonly borrower: string;
}

/** Reads of the read model of operations. */
export interface Standings {
  /** Of these operations, at most 1,000, as they stood just before an instant (ISO 8601 UTC); none of one that is not there. */
  before(instant: string, streams: readonly string[]): Promise<readonly Standing[]>;
}

/** With the operation's code; amounts in integer cents. */
export type NotifiedPayment = Omit<NotifiedPaymentRow, 'stream' | 'revision' | 'recorded_at'> & {
  readonly code: string;
  /** When the administrator processed a repurchase; null before that, and for the other kinds. */
  readonly completed_at: string | null;
};

export interface PaymentPeriod {
  readonly fundId: string;
  /** Business dates, both inclusive. */
  readonly from: CalendarDate;
  readonly to: CalendarDate;
}

/** Reads of the reconciliation read model. */
export interface NotifiedPayments {
  /** In pages, ordered by date, then by operation and place in its stream: the same rows come in the same order on every engine. */
  within(period: PaymentPeriod): AsyncIterable<readonly NotifiedPayment[]>;
  /** Which of these, at most 500, are codes of operations of the fund, paid or not. */
  operationsAmong(fundId: string, codes: readonly string[]): Promise<readonly string[]>;
}

export const STATEMENT_ENCODINGS = ['utf8', 'latin1', 'utf16le'] as const;

/** How a statement is written. Columns are names of the header line, without regard to case, or numbers from 1. */
export interface StatementFormat {
  readonly dateColumn: string;
  readonly amountColumn: string;
  /** `-` when there is none. */
  readonly referenceColumn: string;
  readonly delimiter: string;
  /** The other of the two may group thousands. */
  readonly decimal: '.' | ',';
  /** `yyyy` or `yy`, `mm` and `dd`, each once, with anything between them. */
  readonly dateFormat: string;
  readonly encoding: (typeof STATEMENT_ENCODINGS)[number];
  readonly header: boolean;
  /** Lines before the header, or before the first movement where there is none. */
  readonly skipLines: number;
}

/** Reads a custodian's statement. */
export interface Statements {
  /** How many times `onChunk` will be called. @throws StatementError when there is no such file */
  chunks(path: string): Promise<number>;
  /**
   * In batches, in the order of the file, not more than a few of them in memory.
   * @throws StatementError naming the file, the line and what is wrong with it
   */
  read(path: string, format: StatementFormat, onChunk?: () => void): AsyncIterable<readonly StatementLine[]>;
}
