import type { SqlDatabase } from '../sql/sql-database.ts';
import { endOfBusinessDay } from '../support/business-day.ts';
import { Composition } from './composition.ts';
import type { Concentration, DueMonth, OperationWorth, Part } from './composition.ts';
import type { MonthlySum, SqlPortfolioPositions } from './portfolio-reader.ts';
import { positionOf } from './position.ts';
import type { FundPosition, PositionRequest } from './position.ts';
import { standingsBefore } from './standings-reader.ts';
import type { Standing } from './standings-reader.ts';

/** A position with what it is made of; amounts in integer cents. */
export interface AnalysedPortfolio {
  readonly position: FundPosition;
  /** Oldest first; net of excess. */
  readonly received: readonly MonthlySum[];
  /** Open installments by the month in which they are due, oldest first. */
  readonly due: readonly DueMonth[];
  /** By the application that brought them, the largest first. */
  readonly applications: readonly Part[];
  /** By the state in which they were recorded to be at the end of the day, the largest first. */
  readonly states: readonly Part[];
  /** By product, the largest first. */
  readonly products: readonly Part[];
  readonly concentration: Concentration;
  /** The largest operations, at most `LARGEST`. */
  readonly largest: readonly OperationWorth[];
}

interface Sources {
  readonly database: SqlDatabase;
  readonly positions: SqlPortfolioPositions;
  /** A digest for each stream, the same for the same borrower. */
  readonly tellBorrowers: (held: readonly Standing[]) => Promise<ReadonlyMap<string, string>>;
}

/** The position of a fund with what it is made of, in one walk over what it holds. */
export const analysisOf = async (
  { database, positions, tellBorrowers }: Sources,
  request: PositionRequest,
): Promise<AnalysedPortfolio> => {
  const composition = new Composition(request.date);
  const endOfDay = endOfBusinessDay(request.date);
  const position = await positionOf(positions, request, async (page) => {
    const streams = page.map(({ stream }) => stream);
    const stood = await standingsBefore(database, endOfDay, streams);
    composition.add(page, stood, await tellBorrowers(stood));
  });
  const received = await positions.receivedByMonth({ ...request, endOfDay });
  return { position, received, ...composition.result() };
};
