import type { LoanRow, LoanView } from '../../projections/loan/loan-view.ts';

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
