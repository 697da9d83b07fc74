/** A place in a list of found operations: the next page begins after it. */
export interface SearchPlace {
  /** The code where a code was searched for, otherwise when the operation was received. */
  readonly key: string;
  readonly stream: string;
}

export interface OperationQuery {
  /** What the code begins with, byte by byte. */
  readonly code?: string;
  readonly fundId?: string;
  readonly status?: string;
  /** Received at or after, ISO 8601 UTC. */
  readonly from?: string;
  /** Received before. */
  readonly before?: string;
  /** None but these, at most `MOST_STREAMS`. */
  readonly streams?: readonly string[];
  readonly after?: SearchPlace;
  readonly limit: number;
}

export const MOST_STREAMS = 10_000;

/** Amounts in integer cents. */
export interface FoundOperation {
  readonly stream: string;
  readonly applicationId: string;
  readonly code: string;
  readonly fundId: string;
  readonly status: string;
  readonly productType: string;
  readonly acquisitionValue: number;
  readonly receivedValue: number;
  readonly numberOfInstallments: number;
  readonly dateIssued: string;
  readonly receivedAt: string;
  readonly updatedAt: string;
  /** Sealed. */
  readonly borrower: string;
}

export interface OperationPage {
  readonly operations: readonly FoundOperation[];
  readonly next: SearchPlace | undefined;
}

/** Finds operations of every application, as far as the read model has come. */
export interface OperationSearch {
  /** In the order of codes where one is searched for, otherwise the newest first; stable while operations are added. */
  find(query: OperationQuery): Promise<OperationPage>;
}
