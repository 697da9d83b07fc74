import { randomUUID } from 'node:crypto';
import type { LogPosition } from '../../application/ports/event-store.ts';
import type { ProjectionStore } from '../../application/ports/read-models.ts';
import { AnalysePortfolio } from '../../application/portfolio/analyse-portfolio.ts';
import { ShowPortfolio } from '../../application/portfolio/show-portfolio.ts';
import { ReconcileStatement } from '../../application/reconciliation/reconcile-statement.ts';
import type { LoanDisbursed, LoanEvent, LoanReceived } from '../../domain/loan/index.ts';
import { calendarDate } from '../../domain/shared/calendar-date.ts';
import type { ApplicationId, FundId, LoanCode } from '../../domain/shared/identifiers.ts';
import { SqlPortfolioPositions } from '../../infrastructure/sql/read-models/portfolio-reader.ts';
import { SqlStandings } from '../../infrastructure/sql/read-models/standings-reader.ts';
import { SqlNotifiedPayments } from '../../infrastructure/sql/read-models/reconciliation-reader.ts';
import { SqlProjectionStore } from '../../infrastructure/sql/read-models/projection-store.ts';
import type { SqlDatabase } from '../../infrastructure/sql/sql-database.ts';
import type { ProjectedEvent, Projection } from '../../projections/projection.ts';
import { portfolioProjection } from '../../projections/portfolio/portfolio-projection.ts';
import { reconciliationProjection } from '../../projections/reconciliation/reconciliation-projection.ts';
import { approved, disbursed, received, termSigned } from '../domain/support/loan-story.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { projected } from '../projections/loan/projected-events.ts';

export const FUND_PROJECTIONS: readonly Projection[] = [reconciliationProjection, portfolioProjection];
const KNOWN_AT = '2031-01-01T00:00:00.000Z';

/** A fund of its own in a shared store: what other cases put there must not show. */
export class FundUnderTest {
  readonly fundId: string = randomUUID();
  readonly applicationId: string = randomUUID();
  readonly #store: ProjectionStore;
  readonly #projections: readonly Projection[];
  readonly #told: ProjectedEvent[] = [];
  readonly portfolio: ShowPortfolio;
  /** Digests by stream: whose the operations are. */
  readonly borrowers = new Map<string, string>();
  readonly analysing: AnalysePortfolio;
  readonly reconciliation: ReconcileStatement;
  readonly payments: SqlNotifiedPayments;

  /** @param pageSize small, so that a case crosses pages */
  constructor(database: SqlDatabase, pageSize = 2, projections = FUND_PROJECTIONS) {
    this.#projections = projections;
    this.#store = new SqlProjectionStore(database);
    const positions = new SqlPortfolioPositions(database, pageSize);
    this.payments = new SqlNotifiedPayments(database, pageSize);
    this.portfolio = new ShowPortfolio(positions, new ManualClock(KNOWN_AT));
    this.analysing = new AnalysePortfolio({
      positions,
      standings: new SqlStandings(database),
      borrowers: { of: async () => this.borrowers },
      clock: new ManualClock(KNOWN_AT),
    });
    this.reconciliation = new ReconcileStatement(this.payments);
  }

  /** L1, or whatever the story received, as an operation of this fund. */
  loan(code: string, overrides: Partial<LoanReceived> = {}): LoanReceived {
    return {
      ...received,
      ...overrides,
      code: code as LoanCode,
      fundId: this.fundId as FundId,
      applicationId: this.applicationId as ApplicationId,
    };
  }

  async tell(code: string, events: readonly LoanEvent[], first = 0): Promise<readonly ProjectedEvent[]> {
    const told = projected({ applicationId: this.applicationId, code }, events, first);
    await this.project(told);
    return told;
  }

  /** Everything of this store is emptied, and what was told of this fund is projected again. */
  async rebuild(): Promise<void> {
    for (const projection of this.#projections) await this.#store.reset(projection);
    await this.project(this.#told.splice(0));
  }

  async project(events: readonly ProjectedEvent[]): Promise<void> {
    this.#told.push(...events);
    for (const projection of this.#projections) {
      const from = await this.#store.checkpoint(projection);
      const writes = events.flatMap((event) => projection.project(event));
      const applied = await this.#store.apply(
        projection,
        writes,
        from,
        randomUUID() as string as LogPosition,
      );
      if (!applied) throw new Error('another projector was faster');
    }
  }

  on(date: string, knownAt?: string) {
    return this.portfolio.execute({
      fundId: this.fundId,
      date: calendarDate(date),
      ...(knownAt !== undefined && { knownAt }),
    });
  }
}

export interface FundCase {
  readonly name: string;
  readonly check: (fund: FundUnderTest) => Promise<void>;
}

/** The fund paid on 19 January, so every later day holds the operation. */
export const bought: LoanDisbursed = { ...disbursed, disbursementDate: calendarDate('2026-01-19') };
export const active = (loan: LoanReceived): readonly LoanEvent[] => [loan, approved, termSigned, bought];
/** Paid by 20 June in the worked cases. */
export const firstFive = ['001', '002', '003', '004', '005'];
