import type { LoanReceived, RenegotiationTerms } from '../loan/events.ts';
import type { ApplicationId, LoanCode, RealTime, RenegotiationId, Timestamp } from '../shared/identifiers.ts';

/** Intent only: nothing is decided. After the end of the lease any process may abort. */
export interface RenegotiationStarted {
  readonly type: 'RenegotiationStarted';
  readonly renegotiationId: RenegotiationId;
  readonly applicationId: ApplicationId;
  readonly originalProposalCodes: readonly LoanCode[];
  readonly newProposalCode: LoanCode;
  readonly leaseEndsAt: RealTime;
  readonly startedAt: Timestamp;
}

/** Where a reservation stands: the operation's stream, and the place of the reservation in it. */
export interface Reservation {
  readonly code: LoanCode;
  readonly stream: string;
  readonly revision: number;
}

/** The commit point. It carries all that a process needs to carry it out, and all that readers have to see change at once. */
export interface RenegotiationCommitted {
  readonly type: 'RenegotiationCommitted';
  readonly renegotiation: RenegotiationTerms;
  readonly applicationId: ApplicationId;
  /** In the order of `renegotiation.originalProposalCodes`. */
  readonly originals: readonly Reservation[];
  readonly newLoan: Reservation;
  readonly received: LoanReceived;
  /** Of the request, for every original to keep with its code as the key. */
  readonly fingerprint: string;
  readonly committedAt: Timestamp;
}

/** Nothing changed and nothing will: whatever is still reserved for it is free again. */
export interface RenegotiationAborted {
  readonly type: 'RenegotiationAborted';
  readonly abortedAt: Timestamp;
}

/** The commit is carried out in every stream. */
export interface RenegotiationCompleted {
  readonly type: 'RenegotiationCompleted';
  readonly completedAt: Timestamp;
}

export type RenegotiationEvent =
  RenegotiationStarted | RenegotiationCommitted | RenegotiationAborted | RenegotiationCompleted;
