import type { CalendarDate } from '../../domain/shared/calendar-date.ts';
import type { LoanRow, LoanView } from '../../projections/loan/loan-view.ts';
import type { WaitingStatus } from '../../projections/loan/writes.ts';

export interface LoanListQuery {
  readonly applicationId: string;
  readonly status?: string;
  readonly fundId?: string;
  /** Only what was changed then or later: an instant in UTC with milliseconds. */
  readonly updatedSince?: string;
  /** None of any other fund; at least one. */
  readonly onlyFundIds?: readonly string[];
  readonly limit: number;
  /** Opaque; from the previous page. @see LoanPage */
  readonly cursor?: string;
}
export interface LoanPage {
  readonly loans: readonly LoanRow[];
  readonly nextCursor: string | null;
}

/** Reads of the loan read model. */
export interface LoanReader {
  find(applicationId: string, code: string): Promise<LoanView | undefined>;
  /** Oldest first, stable while operations are added. @throws DomainError `invalid_query_parameter` for a cursor it did not make */
  list(query: LoanListQuery): Promise<LoanPage>;
}

/** How far the rows of operations are: the revision, within its stream, of the last event that each of them shows. */
export interface LoanVersions {
  /** One entry a stream that has a row. */
  of(streams: readonly string[]): Promise<ReadonlyMap<string, bigint>>;
  /** Those whose rows change no more until an operator lets them out of quarantine. */
  quarantined(streams: readonly string[]): Promise<ReadonlySet<string>>;
}

/** Whose turn it is in these states: the decision of the fund's administrator that moves an operation on. */
export const AWAITED = {
  received: 'approve',
  approved: 'sign',
  term_signed: 'disburse',
  repurchase_pending: 'process-repurchase',
} as const satisfies Readonly<Record<WaitingStatus, string>>;
export type AwaitingStatus = keyof typeof AWAITED;
export const AWAITING = Object.keys(AWAITED) as readonly AwaitingStatus[];

/** An operation that waits for the administrator. */
export interface PendingOperation {
  readonly applicationId: string;
  readonly code: string;
  readonly fundId: string;
  readonly status: AwaitingStatus;
  /** In cents. */
  readonly acquisitionValue: number;
  /** When it came into this state, ISO 8601 UTC. */
  readonly since: string;
}

export interface StateCount {
  readonly status: string;
  readonly operations: number;
  /** When the first of them came into this state; null where nothing is awaited. */
  readonly oldestSince: string | null;
}

/** Operations of every application by their state, as far as the read model has come. */
export interface OperationStates {
  /** Those that wait longest come first. */
  pending(query: {
    readonly applicationId?: string;
    readonly fundId?: string;
  }): Promise<readonly PendingOperation[]>;
  /** A state without operations is left out. */
  counts(): Promise<readonly StateCount[]>;
  /** Whether any operation belongs to this fund. */
  holds(fundId: string): Promise<boolean>;
}

/** A pending installment of an active operation whose due date has passed. */
export interface DueInstallment {
  /** Stream of its operation. */
  readonly stream: string;
  readonly code: string;
  readonly dueDate: CalendarDate;
}

/**
 * What the read model knows to be due. It may lag behind the streams, so an answer is a hint: the operation itself decides. Costs
 * grow with what is due, not with what is open.
 */
export interface DueInstallments {
  /** Due before `today`, by due date, at most `limit`; those that follow `after`, which need not be there any more. */
  dueBefore(today: CalendarDate, limit: number, after?: DueInstallment): Promise<readonly DueInstallment[]>;
}
