import type { OpenAmount } from '../../domain/curve/present-value.ts';
import type { CalendarDate } from '../../domain/shared/calendar-date.ts';
import type { PortfolioFlow } from '../../projections/portfolio/portfolio-rows.ts';

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

/** Reads of the portfolio read model. */
export interface PortfolioPositions {
  /** Operations with at least one open installment, in pages, ordered by stream. */
  openOn(query: PositionQuery): AsyncIterable<readonly OpenPosition[]>;
  /** One entry for each sort that occurred on the day, and one for each that occurred before it. */
  flows(query: PositionQuery): Promise<readonly FlowTotal[]>;
}
