import type { BusinessClock } from '../ports/clock.ts';
import type { MonthlySum, PortfolioPositions, Standings } from '../ports/fund-reports.ts';
import type { TellBorrowers } from '../privacy/tell-borrowers.ts';
import { Composition } from './composition.ts';
import type { Concentration, DueMonth, OperationWorth, Part } from './composition.ts';
import { ShowPortfolio, endOfBusinessDay } from './show-portfolio.ts';
import type { FundPosition, PortfolioRequest } from './show-portfolio.ts';

/** A position with what it is made of; amounts in integer cents. */
export interface AnalysedPortfolio {
  readonly position: FundPosition;
  /** Oldest first; net of excess. */
  readonly received: readonly MonthlySum[];
  /** Open installments by the month in which they are due, oldest first; those of the past are overdue. */
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

interface Dependencies {
  readonly positions: PortfolioPositions;
  readonly standings: Standings;
  readonly borrowers: Pick<TellBorrowers, 'of'>;
  readonly clock: BusinessClock;
}

/** The position of a fund with what it is made of, in one walk over what it holds. */
export class AnalysePortfolio {
  readonly #deps: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
  }

  async execute(request: PortfolioRequest): Promise<AnalysedPortfolio> {
    const { positions, standings, borrowers, clock } = this.#deps;
    const composition = new Composition();
    const endOfDay = endOfBusinessDay(request.date);
    const position = await new ShowPortfolio(positions, clock).execute(request, async (page) => {
      const stood = await standings.before(
        endOfDay,
        page.map(({ stream }) => stream),
      );
      composition.add(page, stood, await borrowers.of(stood));
    });
    const { fundId, date, knownAt } = position;
    const received = await positions.receivedByMonth({ fundId, date, knownAt, endOfDay });
    return { position, received, ...composition.result() };
  }
}
