import { ContainerModule } from 'inversify';
import type { Container } from 'inversify';
import { LOAN_STREAM_PREFIX } from '../../application/command-handling/stream-names.ts';
import { ShowPortfolio } from '../../application/portfolio/show-portfolio.ts';
import { ReconcileStatement } from '../../application/reconciliation/reconcile-statement.ts';
import type { Projection } from '../../projections/engine/projection.ts';
import { Projector } from '../../projections/engine/projector.ts';
import { portfolioProjection } from '../../projections/portfolio/portfolio-projection.ts';
import { reconciliationProjection } from '../../projections/reconciliation/reconciliation-projection.ts';
import { catchUp } from '../cli/catch-up.ts';
import type { FundSideServices } from '../cli/cli-services.ts';
import { SqlPortfolioPositions } from '../sql/read-models/portfolio-reader.ts';
import { SqlNotifiedPayments } from '../sql/read-models/reconciliation-reader.ts';
import { CsvStatements } from '../statements/csv-statements.ts';
import { throttled } from '../support/throttled.ts';
import { toProjected } from './read-side.ts';
import type { LoanProjector } from './read-side.ts';
import { TOKENS } from './tokens.ts';

/** Reports wait for their own catching up, so these followers leave the machine to those that requests wait for. */
const FUND_SIDE_PAUSE_MS = 250;

const projections: readonly Projection[] = [reconciliationProjection, portfolioProjection];

/** Read models and reports of the fund. */
export const fundSideModule = new ContainerModule(({ bind }) => {
  const { eventSubscription, projectionStore, logger, readModelDatabase, observability, clock } = TOKENS;

  bind(TOKENS.fundSideProjectors).toResolvedValue(
    (log, store, writer, { follower }): readonly LoanProjector[] =>
      projections.map(
        (projection) =>
          new Projector({
            projection,
            log: follower(`${projection.name}-projector`, throttled(log, FUND_SIDE_PAUSE_MS)),
            store,
            decode: toProjected,
            logger: writer,
            streamPrefix: LOAN_STREAM_PREFIX,
          }),
      ),
    [eventSubscription, projectionStore, logger, observability],
  );
  bind(TOKENS.reconcileStatement).toResolvedValue(
    (db) => new ReconcileStatement(new SqlNotifiedPayments(db)),
    [readModelDatabase],
  );
  bind(TOKENS.showPortfolio).toResolvedValue(
    (db, time) => new ShowPortfolio(new SqlPortfolioPositions(db), time),
    [readModelDatabase, clock],
  );
});

/** What the command line needs of all this. */
export const fundSideServices = (container: Container): FundSideServices => ({
  statements: new CsvStatements(),
  reconciliation: container.get(TOKENS.reconcileStatement),
  portfolio: container.get(TOKENS.showPortfolio),
  today: () => container.get(TOKENS.clock).today(),
  catchUp: async (name) => {
    const projector = container
      .get(TOKENS.fundSideProjectors)
      .find((one) => one.status().projection === name);
    if (projector) await catchUp(projector);
  },
});
