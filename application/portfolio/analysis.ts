import type { SqlDatabase } from '../sql/sql-database.ts';
import { endOfBusinessDay } from '../support/business-day.ts';
import { Composition } from './composition.ts';
import type { SqlPortfolioPositions } from './portfolio-reader.ts';
import { positionOf } from './position.ts';
import type { PositionRequest } from './position.ts';
import { standingsBefore } from './standings-reader.ts';
import type { Standing } from './standings-reader.ts';

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
) => {
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

export type AnalysedPortfolio = Awaited<ReturnType<typeof analysisOf>>;
