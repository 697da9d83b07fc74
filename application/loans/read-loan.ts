import type { Timestamp } from '../../domain/shared/identifiers.ts';
import type { CalendarDate } from '../../domain/shared/calendar-date.ts';
import type { BorrowerVault } from '../ports/borrower-vault.ts';
import type { Clock } from '../ports/clock.ts';
import type { EventStore } from '../ports/event-store.ts';
import type { LoanPage, LoanReader } from '../ports/loan-reader.ts';
import type { RequestContext } from '../request-context.ts';
import { loanStream } from '../command-handling/stream-names.ts';
import { loanReceived } from '../event-codec/assignment-entries.ts';
import { presentLoan } from './loan-details.ts';
import type { LoanDetails } from './loan-details.ts';

/** Resolves true once the read model holds this revision of the stream, false when it did not within the time. */
export interface ReadModelProgress {
  waitForVersion(stream: string, revision: bigint, timeoutMs: number): Promise<boolean>;
}

/** The read model is more than `READ_WAIT_MS` behind the streams: answer later rather than something old. */
export class ReadModelBehindError extends Error {
  override readonly name = 'ReadModelBehindError';
}

const READ_WAIT_MS = 3_000;
const LOAN_RECEIVED = loanReceived.storedType;

export interface ListLoansInput {
  readonly status?: string;
  readonly fundId?: string;
  readonly limit: number;
  readonly cursor?: string;
}

export interface LoanSummary {
  readonly code: string;
  readonly fundId: string;
  readonly status: string;
  readonly productType: string;
  readonly acquisitionValue: number;
  readonly numberOfInstallments: number;
  readonly dateIssued: CalendarDate;
  readonly receivedAt: Timestamp;
  readonly updatedAt: Timestamp;
}

interface Dependencies {
  readonly events: EventStore;
  readonly loans: LoanReader;
  readonly progress: ReadModelProgress;
  readonly vault: BorrowerVault;
  readonly clock: Clock;
}

/** Reads of operations: a read started after a write was answered sees that write. */
export class LoanReading {
  readonly #deps: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
  }

  async read(context: RequestContext, code: string): Promise<LoanDetails | undefined> {
    const { events, loans, progress, vault, clock } = this.#deps;
    const stream = loanStream(context.applicationId, code);
    const head = await events.head(stream);
    if (head === 'no_stream') return undefined;
    let view = await loans.find(context.applicationId, code);
    if (view === undefined && !(await this.#holdsOperation(stream))) return undefined;
    if (view === undefined || BigInt(view.loan.version) < head) {
      if (!(await progress.waitForVersion(stream, head, READ_WAIT_MS))) throw new ReadModelBehindError();
      view = await loans.find(context.applicationId, code);
    }
    if (view === undefined) return undefined;
    const borrower = await vault.open(stream, view.loan.borrower as Parameters<BorrowerVault['open']>[1]);
    return presentLoan(view, borrower, clock.today());
  }

  /** A renegotiation may have reserved the code, and perhaps given it back: then there is nothing to wait for. */
  async #holdsOperation(stream: string): Promise<boolean> {
    const { events } = await this.#deps.events.read(stream);
    return events.some(({ type }) => type === LOAN_RECEIVED);
  }

  async list(
    context: RequestContext,
    input: ListLoansInput,
  ): Promise<{ loans: readonly LoanSummary[]; nextCursor: string | null }> {
    const page: LoanPage = await this.#deps.loans.list({ applicationId: context.applicationId, ...input });
    const loans = page.loans.map((row) => ({
      code: row.code,
      fundId: row.fund_id,
      status: row.status,
      productType: row.product_type,
      acquisitionValue: row.acquisition_value,
      numberOfInstallments: row.number_of_installments,
      dateIssued: row.date_issued as CalendarDate,
      receivedAt: row.received_at as Timestamp,
      updatedAt: row.updated_at as Timestamp,
    }));
    return { loans, nextCursor: page.nextCursor };
  }
}
