import type { ScheduledInstallment } from '../installment/installment.ts';
import type { LoanDocument, SandboxWishes } from '../loan/events.ts';
import type { LoanState } from '../loan/state.ts';
import type { CalendarDate } from '../shared/calendar-date.ts';
import type { LoanCode, SealedBorrower, Timestamp } from '../shared/identifiers.ts';
import type { Cents } from '../shared/money.ts';
import type { RenegotiationStarted, Reservation } from './state.ts';

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
