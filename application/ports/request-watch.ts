/** A request as it comes in; what it was answered is known when its work has ended. */
export interface WatchedRequest {
  readonly requestId: string;
  /** Id of the published operation; undefined when none matches. */
  readonly operation: string | undefined;
  readonly method: string;
  /** The caller's own trace, as the header `traceparent` has it; not checked yet. */
  readonly traceparent: string | undefined;
  /** Status of the answer; undefined when the caller went away without one. */
  status(): number | undefined;
}

/** Follows each request from its arrival to its answer. Never fails, and passes on whatever the work does. */
export interface RequestWatch {
  run(request: WatchedRequest, work: () => Promise<void>): Promise<void>;
}

export const UNWATCHED_REQUESTS: RequestWatch = { run: (_, work) => work() };
