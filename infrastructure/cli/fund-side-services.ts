import type { ShowPortfolio } from '../../application/portfolio/show-portfolio.ts';
import type { CalendarDate } from '../../domain/shared/calendar-date.ts';
import type { Statements } from '../../application/ports/fund-reports.ts';
import type { ReconcileStatement } from '../../application/reconciliation/reconcile-statement.ts';

/** What the fund's reports need of the service. */
export interface FundSideServices {
  readonly statements: Statements;
  readonly reconciliation: Pick<ReconcileStatement, 'execute'>;
  readonly portfolio: Pick<ShowPortfolio, 'execute'>;
  /** The calendar date in America/Sao_Paulo. */
  today(): CalendarDate;
  /** Resolves when this read model holds everything that was stored before the call. @throws Error when it cannot */
  catchUp(projection: 'reconciliation' | 'portfolio'): Promise<void>;
}
