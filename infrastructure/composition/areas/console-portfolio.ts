import type { Container } from 'inversify';
import { LRUCache } from 'lru-cache';
import { AnalysePortfolio } from '../../../application/portfolio/analyse-portfolio.ts';
import type { AnalysedPortfolio } from '../../../application/portfolio/analyse-portfolio.ts';
import { portfolioProjection } from '../../../projections/portfolio/portfolio-projection.ts';
import { printPosition } from '../../cli/portfolio-commands.ts';
import type { PortfolioPages } from '../../console/services.ts';
import { SqlPortfolioPositions } from '../../sql/read-models/portfolio-reader.ts';
import { TOKENS } from '../container.ts';
import { fundSideServices } from './fund-side.ts';

/** Positions are small once they are added up; what was added up holds until the read model moves. */
const REMEMBERED = 64;

/** Positions of funds as the pages of the console show them. */
export const portfolioPages = (container: Container): PortfolioPages => {
  const foundations = container.get(TOKENS.foundations);
  const { projectionStore } = container.get(TOKENS.adapters);
  const { engines, clock } = foundations;
  const fundSide = fundSideServices(foundations, container.get(TOKENS.readModels));
  const analysing = new AnalysePortfolio(new SqlPortfolioPositions(engines.readModelDatabase), clock);
  const known = new LRUCache<string, Promise<AnalysedPortfolio>>({ max: REMEMBERED });
  return {
    analyse: async ({ fundId, date }) => {
      await fundSide.catchUp('portfolio');
      const key = `${fundId} ${date} ${await projectionStore.checkpoint(portfolioProjection)}`;
      const before = known.get(key);
      if (before !== undefined) return before;
      const analysed = analysing.execute({ fundId, date });
      known.set(key, analysed);
      analysed.catch(() => known.delete(key));
      return analysed;
    },
    csv: async function* (position) {
      yield* printPosition(position, { format: 'csv', colour: false });
    },
  };
};
