/** Too much of this kind of work waits already. Nothing was done; the caller may try again in a moment (503 with Retry-After). */
export class BusyError extends Error {
  override readonly name = 'BusyError';
}
