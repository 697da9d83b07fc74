import type { LoanReceived, RenegotiationTerms, LoanDocument, SandboxWishes } from '../loan/events.ts';
import type {
  ApplicationId,
  LoanCode,
  RealTime,
  RenegotiationId,
  Timestamp,
  SealedBorrower,
} from '../shared/identifiers.ts';
import type { ScheduledInstallment } from '../installment/installment.ts';
import type { LoanState } from '../loan/state.ts';
import type { CalendarDate } from '../shared/calendar-date.ts';
import type { Cents } from '../shared/money.ts';

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
interface RenegotiationAborted {
  readonly type: 'RenegotiationAborted';
  readonly abortedAt: Timestamp;
}

interface RenegotiationCompleted {
  readonly type: 'RenegotiationCompleted';
  readonly completedAt: Timestamp;
}

export type RenegotiationEvent =
  RenegotiationStarted | RenegotiationCommitted | RenegotiationAborted | RenegotiationCompleted;

interface NoRenegotiation {
  readonly status: 'none';
}
export interface StartedRenegotiation {
  /** `aborted` once it was given up undecided. */
  readonly status: 'started' | 'aborted';
  readonly started: RenegotiationStarted;
}
export interface CommittedRenegotiation {
  /** `completed` once every stream has taken the commit over. */
  readonly status: 'committed' | 'completed';
  readonly started: RenegotiationStarted;
  readonly committed: RenegotiationCommitted;
}

export type RenegotiationState = NoRenegotiation | StartedRenegotiation | CommittedRenegotiation;

/** Total, like every evolve: of commit and abort the first one counts, whatever a damaged stream may hold after it. */
export const evolve = (state: RenegotiationState, event: RenegotiationEvent): RenegotiationState => {
  switch (event.type) {
    case 'RenegotiationStarted':
      return state.status === 'none' ? { status: 'started', started: event } : state;
    case 'RenegotiationCommitted':
      return state.status === 'started'
        ? { status: 'committed', started: state.started, committed: event }
        : state;
    case 'RenegotiationAborted':
      return state.status === 'started' ? { ...state, status: 'aborted' } : state;
    case 'RenegotiationCompleted':
      return state.status === 'committed' ? { ...state, status: 'completed' } : state;
  }
};

export interface Proposal extends SandboxWishes {
  readonly originalProposalCodes: readonly LoanCode[];
  readonly newProposalCode: LoanCode;
  readonly effectiveDate: CalendarDate;
  readonly acquisitionValue: Cents;
  readonly installments: readonly ScheduledInstallment[];
  /** Default: the effective date. */
  readonly dateIssued?: CalendarDate;
  /** Default: that of the first original. */
  readonly productType?: string;
}

export interface Reserved {
  readonly reservation: Reservation;
  readonly state: LoanState;
}

export interface StartRenegotiation extends Omit<RenegotiationStarted, 'type' | 'startedAt'> {
  readonly type: 'StartRenegotiation';
  readonly now: Timestamp;
}
export interface CommitRenegotiation {
  readonly type: 'CommitRenegotiation';
  readonly proposal: Proposal;
  readonly originals: readonly Reserved[];
  readonly newLoan: Reserved;
  readonly borrower: SealedBorrower;
  readonly documents: readonly LoanDocument[];
  readonly fingerprint: string;
  readonly now: Timestamp;
}
interface AbortRenegotiation {
  readonly type: 'AbortRenegotiation';
  readonly now: Timestamp;
}
interface CompleteRenegotiation {
  readonly type: 'CompleteRenegotiation';
  readonly now: Timestamp;
}

export type RenegotiationCommand =
  StartRenegotiation | CommitRenegotiation | AbortRenegotiation | CompleteRenegotiation;
