/** Who asks, in which request. */
export interface RequestContext {
  readonly requestId: string;
  readonly clientId: string;
  readonly applicationId: string;
  /** Funds linked to the application, looked up for this request. */
  readonly fundIds: readonly string[];
}

/** What a use case answers: `replayed` when an earlier request with the same key had done it already. */
export interface Outcome<Result> {
  readonly replayed: boolean;
  readonly result: Result;
}
