import { ShowPortfolio } from '../../../application/portfolio/show-portfolio.ts';
import { ReconcileStatement } from '../../../application/reconciliation/reconcile-statement.ts';
import { catchUp } from '../../cli/catch-up.ts';
import type { FundSideServices } from '../../cli/cli-services.ts';
import { SqlPortfolioPositions } from '../../sql/read-models/portfolio-reader.ts';
import { SqlNotifiedPayments } from '../../sql/read-models/reconciliation-reader.ts';
import { CsvStatements } from '../../statements/csv-statements.ts';
import type { Foundations } from '../foundations.ts';
import type { ReadModels } from './read-models.ts';

/** Reports of the fund, as the command line shows them. */
export const fundSideServices = (
  { engines, clock }: Foundations,
  { fundSideProjectors }: ReadModels,
): FundSideServices => ({
  statements: new CsvStatements(),
  reconciliation: new ReconcileStatement(new SqlNotifiedPayments(engines.readModelDatabase)),
  portfolio: new ShowPortfolio(new SqlPortfolioPositions(engines.readModelDatabase), clock),
  today: () => clock.today(),
  catchUp: async (name) => {
    const projector = fundSideProjectors.find((one) => one.status().projection === name);
    if (projector) await catchUp(projector);
  },
});
