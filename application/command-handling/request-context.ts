export interface RequestContext {
  readonly requestId: string;
  readonly clientId: string;
  readonly applicationId: string;
  /** Funds that the client may use: those linked to the application, looked up for this request. */
  readonly fundIds: readonly string[];
  /** What belongs to another fund is hidden from this client. Absent: it sees every fund, linked or no longer linked. */
  readonly onlyFundIds?: readonly string[];
  /** Whether payments are dated and files are read as in production; a sandbox plays lives in advance and takes hand-made files. */
  readonly strict?: boolean;
  /** Aborted when the client is gone before its answer. What was not begun then need not be. */
  readonly signal?: AbortSignal | undefined;
  /** Runs what only waits, and lets other requests of the application have the place of this one meanwhile. */
  readonly aside?: (<Value>(wait: () => Promise<Value>) => Promise<Value>) | undefined;
}

/** What a use case answers: `replayed` when an earlier request with the same key had done it already. */
export interface Outcome<Result> {
  readonly replayed: boolean;
  readonly result: Result;
}
