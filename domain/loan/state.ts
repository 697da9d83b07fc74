import type { Installment, ScheduledInstallment } from '../installment/state.ts';
import type { CalendarDate } from '../shared/calendar-date.ts';
import type {
  ApplicationId,
  FundId,
  LoanCode,
  RenegotiationId,
  SealedBorrower,
  Timestamp,
} from '../shared/identifiers.ts';
import type { Cents } from '../shared/money.ts';
import type {
  ExitBasis,
  LoanDocument,
  LoanFullySettled,
  LoanRenegotiated,
  LoanRenegotiationCompleted,
  PrepaymentProcessed,
  Pricing,
  RejectionReason,
  RenegotiationTerms,
  RepurchaseCompleted,
  RepurchaseEndStatus,
  RepurchaseRequested,
  SandboxOutcome,
} from './events.ts';

/** What is true of an operation from its reception to its end. */
export interface LoanTerms {
  readonly applicationId: ApplicationId;
  readonly fundId: FundId;
  readonly code: LoanCode;
  readonly productType: string;
  readonly acquisitionValue: Cents;
  readonly dateIssued: CalendarDate;
  readonly schedule: readonly ScheduledInstallment[];
  /** Index into `schedule` (and into `installments`) by installment code. */
  readonly indexByCode: ReadonlyMap<string, number>;
  readonly borrower: SealedBorrower;
  readonly documents: readonly LoanDocument[];
  readonly pricing: Pricing;
  readonly receivedAt: Timestamp;
  /** From then on borrower and documents are unreadable. */
  readonly borrowerForgottenAt?: Timestamp;
  /** The renegotiation that brought it in, if one did. */
  readonly origin?: RenegotiationTerms;
  readonly sandboxOutcome?: SandboxOutcome;
}

/** What an operation accumulates once it is active. `installments` stands in the order of the schedule. */
export interface LoanBooks {
  /** What the fund paid for it, and on which day where that was stated. */
  readonly disbursedValue: Cents;
  readonly disbursementDate?: CalendarDate;
  readonly exitBasis: ExitBasis;
  readonly installments: readonly Installment[];
  /** How many installments are pending or overdue. */
  readonly openCount: number;
  /** Money received: settlements plus prepayments net of excess. */
  readonly receivedValue: Cents;
  readonly prepayments: readonly PrepaymentProcessed[];
}

export interface NoLoan {
  readonly status: 'none';
}
/** A renegotiation wants this code for its new operation; to readers there is no operation yet. */
export interface ReservedCode {
  readonly status: 'code_reserved';
  readonly renegotiationId: RenegotiationId;
}
export interface ReceivedLoan extends LoanTerms {
  readonly status: 'received';
}
export interface ApprovedLoan extends LoanTerms {
  readonly status: 'approved';
}
export interface RejectedLoan extends LoanTerms {
  readonly status: 'rejected';
  readonly reasons: readonly RejectionReason[];
}
export interface TermSignedLoan extends LoanTerms {
  readonly status: 'term_signed';
}
export interface ActiveLoan extends LoanTerms, LoanBooks {
  readonly status: 'active';
}
export interface SettledLoan extends LoanTerms, LoanBooks {
  readonly status: 'settled';
  readonly closing: LoanFullySettled;
}
export interface RepurchasePendingLoan extends LoanTerms, LoanBooks {
  readonly status: 'repurchase_pending';
  readonly repurchase: RepurchaseRequested;
}
export interface RepurchasedLoan extends LoanTerms, LoanBooks {
  readonly status: RepurchaseEndStatus;
  readonly repurchase: RepurchaseRequested;
  readonly completion: RepurchaseCompleted;
}

/** Active, and held by a renegotiation that is not decided yet; readers still see it as active. */
export interface ReservedLoan extends LoanTerms, LoanBooks {
  readonly status: 'reserved';
  readonly renegotiationId: RenegotiationId;
}
export interface RenegotiatedLoan extends LoanTerms, LoanBooks {
  readonly status: 'renegotiated';
  readonly renegotiated: LoanRenegotiated;
  readonly completed?: LoanRenegotiationCompleted;
}

export type LoanState =
  | NoLoan
  | ReservedCode
  | ReceivedLoan
  | ApprovedLoan
  | RejectedLoan
  | TermSignedLoan
  | ActiveLoan
  | SettledLoan
  | RepurchasePendingLoan
  | RepurchasedLoan
  | ReservedLoan
  | RenegotiatedLoan;

export type ExistingLoan = Exclude<LoanState, NoLoan | ReservedCode>;
export type LoanStatus = ExistingLoan['status'];

/** An operation or a code that a renegotiation holds; a command that meets one waits for that renegotiation first. */
export const isReserved = (state: LoanState): state is ReservedLoan | ReservedCode =>
  state.status === 'reserved' || state.status === 'code_reserved';

/** Whether this very renegotiation holds it. */
export const holds = (
  state: LoanState,
  renegotiation: { readonly renegotiationId: RenegotiationId } | undefined,
): state is ReservedLoan | ReservedCode =>
  isReserved(state) && state.renegotiationId === renegotiation?.renegotiationId;

/** On either side: as an operation that was replaced, or as the one that replaces others. */
export const tookPartInRenegotiation = (state: LoanState): boolean =>
  state.status === 'renegotiated' || ('origin' in state && state.origin !== undefined);
