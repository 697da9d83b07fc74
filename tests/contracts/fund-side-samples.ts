import { randomUUID } from 'node:crypto';
import type { LogPosition } from '../../application/ports/event-store.ts';
import { SqlProjectionStore } from '../../application/projecting/projection-store.ts';
import type { ProjectionStore } from '../../application/projecting/projection-store.ts';
import { analysisOf } from '../../application/portfolio/composition.ts';
import { positionOf } from '../../application/portfolio/position.ts';
import type { LoanDisbursed, LoanEvent, LoanReceived } from '../../domain/loan/index.ts';
import { calendarDate } from '../../domain/shared/calendar-date.ts';
import type { ApplicationId, FundId, LoanCode } from '../../domain/shared/identifiers.ts';
import { SqlPortfolioPositions } from '../../application/portfolio/portfolio-reader.ts';
import { SqlNotifiedPayments } from '../../application/reconciliation/reconciliation-reader.ts';
import type { SqlDatabase } from '../../application/sql/sql-database.ts';
import type { ProjectedEvent } from '../../projections/projection.ts';
import { loanProjection } from '../../projections/loan/loan-projection.ts';
import { approved, disbursed, received, termSigned } from '../domain/support/loan-story.ts';
import { emptied } from '../support/known-operations.ts';
import { projected } from '../projections/loan/projected-events.ts';

const KNOWN_AT = '2031-01-01T00:00:00.000Z';

/** A fund of its own in a shared store: what other cases put there must not show. */
export class FundUnderTest {
  readonly fundId: string = randomUUID();
  readonly applicationId: string = randomUUID();
  readonly #store: ProjectionStore;
  readonly #told: ProjectedEvent[] = [];
  /** Digests by stream: whose the operations are. */
  readonly borrowers = new Map<string, string>();
  readonly #database: SqlDatabase;
  readonly #positions: SqlPortfolioPositions;
  readonly payments: SqlNotifiedPayments;

  /** @param pageSize small, so that a case crosses pages */
  constructor(database: SqlDatabase, pageSize = 2) {
    this.#store = new SqlProjectionStore(database);
    this.#database = database;
    this.#positions = new SqlPortfolioPositions(database, pageSize);
    this.payments = new SqlNotifiedPayments(database, pageSize);
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
    await emptied(this.#database, loanProjection);
    await this.project(this.#told.splice(0));
  }

  async project(events: readonly ProjectedEvent[]): Promise<void> {
    this.#told.push(...events);
    const from = await this.#store.checkpoint(loanProjection);
    const writes = events.flatMap((event) => loanProjection.project(event));
    const place = randomUUID() as string as LogPosition;
    if (!(await this.#store.apply(loanProjection, writes, from, place)))
      throw new Error('another projector was faster');
  }

  on(date: string, knownAt = KNOWN_AT) {
    return positionOf(this.#positions, { fundId: this.fundId, date: calendarDate(date), knownAt });
  }

  analysed(date: string) {
    const sources = {
      database: this.#database,
      positions: this.#positions,
      privacy: { tell: async () => this.borrowers },
    };
    return analysisOf(sources, { fundId: this.fundId, date: calendarDate(date), knownAt: KNOWN_AT });
  }
}

/** The fund paid on 19 January, so every later day holds the operation. */
export const bought: LoanDisbursed = { ...disbursed, disbursementDate: calendarDate('2026-01-19') };
export const active = (loan: LoanReceived): readonly LoanEvent[] => [loan, approved, termSigned, bought];
/** Paid by 20 June in the worked cases. */
export const firstFive = ['001', '002', '003', '004', '005'];
