import type { ServiceError } from '@grpc/grpc-js';
import { status } from '@grpc/grpc-js';
import { messageOf } from '../../application/support/failures.ts';
import { OutcomeUnknownError, StoreUnavailableError } from '../../application/ports/event-store.ts';

/** No node leads the cluster now, so nothing was sent. */
export class NoLeaderError extends Error {
  override readonly name = 'NoLeaderError';
}

/** No answer in time, or none any more. */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError';
  readonly sent: boolean;

  /** @param sent false where there never was a connection, so that nothing left this process */
  constructor(message: string, sent = true) {
    super(message);
    this.sent = sent;
  }
}

/** A single append of a batch call that the server refused, for a reason of its own. */
export class RefusedAppendError extends Error {
  override readonly name = 'RefusedAppendError';
  readonly reason: 'not_ready' | 'busy' | 'denied' | 'deleted' | 'too_large' | 'other';

  constructor(reason: RefusedAppendError['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}

/**
 * What an error proves of the call that it ended.
 * `not_done`: it was never sent, or refused; elsewhere or later it may succeed. `forbidden`: refused, and will be again.
 * `unknown`: anything may have become of it.
 */
type Proof = 'not_done' | 'forbidden' | 'unknown';

/** How the library under the calls words that a request never left this process. */
const NEVER_SENT = /No connection established|Name resolution failed|failed to connect to all addresses/;
const NOT_READY = /Server Is Not Ready|No leader info available/;
const BUSY = /Server Is (?:Too )?Busy/;

/** Why a server says in words that it did not take a call. */
export const refusalIn = (text: string): 'not_ready' | 'busy' | undefined => {
  if (NOT_READY.test(text)) return 'not_ready';
  return BUSY.test(text) ? 'busy' : undefined;
};

const isServiceError = (error: unknown): error is ServiceError =>
  error instanceof Error && typeof (error as Partial<ServiceError>).code === 'number';

const trailer = (error: unknown, name: string): string | undefined =>
  isServiceError(error) ? error.metadata?.get(name)[0]?.toString() : undefined;

/** The name under which the server tells its own exceptions apart. */
const exceptionOf = (error: unknown): string | undefined => trailer(error, 'exception');

const proofOfRefusal = ({ reason }: RefusedAppendError): Proof => {
  if (reason === 'not_ready' || reason === 'busy') return 'not_done';
  return reason === 'other' ? 'unknown' : 'forbidden';
};

export const proofOf = (error: unknown): Proof => {
  if (error instanceof RefusedAppendError) return proofOfRefusal(error);
  if (error instanceof NoAnswerError && !error.sent) return 'not_done';
  if (error instanceof NoLeaderError || leaderNamedBy(error) !== undefined) return 'not_done';
  const text = messageOf(error);
  if (NEVER_SENT.test(text)) return 'not_done';
  if (!isServiceError(error)) return 'unknown';
  if (error.code === status.UNAVAILABLE && refusalIn(text)) return 'not_done';
  return isAccessDenied(error) || exceptionOf(error) === 'stream-deleted' ? 'forbidden' : 'unknown';
};

export const isAccessDenied = (error: unknown): boolean =>
  exceptionOf(error) === 'access-denied' ||
  (isServiceError(error) &&
    (error.code === status.PERMISSION_DENIED || error.code === status.UNAUTHENTICATED));

/** A moment in which events came faster than they were taken, for which older servers drop a subscriber. */
export const isTooSlow = (error: unknown): boolean =>
  isServiceError(error) && error.code === status.ABORTED && /too slow/i.test(error.message);

/** Nothing came back in the time that there was. */
export const isSilence = (error: unknown): boolean =>
  error instanceof NoAnswerError || (isServiceError(error) && error.code === status.DEADLINE_EXCEEDED);

/** Where a node that does not lead says the leader is. */
export const leaderNamedBy = (error: unknown): string | undefined => {
  if (exceptionOf(error) !== 'not-leader') return undefined;
  const [host, port] = [trailer(error, 'leader-endpoint-host'), trailer(error, 'leader-endpoint-port')];
  return host !== undefined && port !== undefined ? `${host}:${port}` : undefined;
};

const LOST: ReadonlySet<number> = new Set([status.UNAVAILABLE, status.CANCELLED, status.DEADLINE_EXCEEDED]);

/** Whether calls should go elsewhere after this one. */
export const isReasonToLeave = (error: unknown): boolean =>
  error instanceof NoAnswerError ||
  (error instanceof RefusedAppendError && error.reason === 'not_ready') ||
  exceptionOf(error) === 'not-leader' ||
  (isServiceError(error) && LOST.has(error.code) && !BUSY.test(error.message));

export const unavailable = (what: string, error: unknown): StoreUnavailableError =>
  error instanceof StoreUnavailableError
    ? error
    : new StoreUnavailableError(`EventStoreDB: ${what}: ${messageOf(error)}`, { cause: error });

export const outcomeUnknown = (what: string, error: unknown): OutcomeUnknownError =>
  error instanceof OutcomeUnknownError
    ? error
    : new OutcomeUnknownError(`EventStoreDB: ${what}: ${messageOf(error)}`, { cause: error });
