/** Too much of this kind of work waits already. Nothing was done; the caller may try again in a moment (503 with Retry-After). */
export class BusyError extends Error {
  override readonly name = 'BusyError';
}

/** What looks at files did not start. Nothing was done; the caller may try again in a while (503 with Retry-After). */
export class InspectorAwayError extends Error {
  override readonly name = 'InspectorAwayError';
}

/** The caller's share of this kind of work is used up, whatever others do (429 with Retry-After). Nothing was done. */
export class OverShareError extends Error {
  override readonly name = 'OverShareError';
  readonly retryAfterSeconds: number;

  constructor(message: string, retryAfterSeconds: number) {
    super(message);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
