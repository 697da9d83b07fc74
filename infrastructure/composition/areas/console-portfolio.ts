import type { Container } from 'inversify';
import { LRUCache } from 'lru-cache';
import { AnalysePortfolio } from '../../../application/portfolio/analyse-portfolio.ts';
import type { AnalysedPortfolio } from '../../../application/portfolio/analyse-portfolio.ts';
import { TellBorrowers } from '../../../application/privacy/tell-borrowers.ts';
import { loanProjection } from '../../../projections/loan/loan-projection.ts';
import { portfolioProjection } from '../../../projections/portfolio/portfolio-projection.ts';
import { printComposition } from '../../cli/composition-report.ts';
import { printPosition } from '../../cli/portfolio-commands.ts';
import type { PortfolioPages } from '../../console/services.ts';
import { SqlOperationSearch } from '../../sql/read-models/operation-search.ts';
import { SqlPortfolioPositions } from '../../sql/read-models/portfolio-reader.ts';
import { SqlStandings } from '../../sql/read-models/standings-reader.ts';
import { oneAtATime } from '../../support/one-at-a-time.ts';
import { TOKENS } from '../container.ts';
import { fundSideServices } from './fund-side.ts';
import { maskedBorrower } from './masked-borrowers.ts';
import { privacyServices } from './privacy.ts';

/** Positions are small once they are added up; what was added up holds until a read model moves. */
const REMEMBERED = 64;
const CSV = { format: 'csv', colour: false } as const;

/**
 * Positions of funds as the pages of the console show them.
 * @param loansCaughtUp takes in what was recorded before; shared with whoever does so too
 */
export const portfolioPages = (container: Container, loansCaughtUp: () => Promise<void>): PortfolioPages => {
  const foundations = container.get(TOKENS.foundations);
  const adapters = container.get(TOKENS.adapters);
  const { projectionStore, vault, borrowerIndex: index } = adapters;
  const { engines, clock } = foundations;
  const { readModelDatabase } = engines;
  const fundSide = fundSideServices(foundations, container.get(TOKENS.readModels));
  const { indexing } = privacyServices(
    foundations,
    adapters,
    container.get(TOKENS.commands),
    container.get(TOKENS.documents),
  );
  const analysing = new AnalysePortfolio({
    positions: new SqlPortfolioPositions(readModelDatabase),
    standings: new SqlStandings(readModelDatabase),
    borrowers: new TellBorrowers({ index, vault }),
    clock,
  });
  const caughtUp = oneAtATime(async () => {
    await fundSide.catchUp('portfolio');
    await loansCaughtUp();
  });
  const search = new SqlOperationSearch(readModelDatabase);
  const masked = maskedBorrower(vault);
  const known = new LRUCache<string, Promise<AnalysedPortfolio>>({ max: REMEMBERED });
  // Where a key is missing it walks the log each time: once is enough for what a page shows.
  let indexed: Promise<void> | undefined;
  const analysed = async (request: Parameters<PortfolioPages['analyse']>[0]): Promise<AnalysedPortfolio> => {
    await (indexed ??= indexing.completeOnce(() => undefined));
    return analysing.execute(request);
  };
  const documents: PortfolioPages['documents'] = async (streams) => {
    const { operations } = await search.find({ streams, limit: streams.length });
    const found = operations.map(async (one) => [one.stream, await masked(one)] as const);
    return new Map(await Promise.all(found));
  };
  return {
    analyse: async ({ fundId, date }) => {
      await caughtUp();
      const places = [portfolioProjection, loanProjection].map((one) => projectionStore.checkpoint(one));
      const key = [fundId, date, ...(await Promise.all(places))].join(' ');
      const before = known.get(key);
      if (before !== undefined) return before;
      const answer = analysed({ fundId, date });
      known.set(key, answer);
      answer.catch(() => {
        known.delete(key);
        indexed = undefined;
      });
      return answer;
    },
    documents,
    csv: async function* ({ position }) {
      yield* printPosition(position, CSV);
    },
    compositionCsv: async function* (composed) {
      const streams = composed.concentration.borrowers.map(({ largest }) => largest.stream);
      yield* printComposition(composed, await documents(streams), CSV);
    },
  };
};
