import type { InstallmentEvent, PaymentMethod, ScheduledInstallment } from '../installment/installment.ts';
import type { Allocation } from '../curve/prepayment.ts';
import type { PresentValueLine } from '../curve/present-value.ts';
import type { CalendarDate } from '../shared/calendar-date.ts';
import type {
  ApplicationId,
  FundId,
  LoanCode,
  RealTime,
  RenegotiationId,
  SealedBorrower,
  Timestamp,
} from '../shared/identifiers.ts';
import type { Cents } from '../shared/money.ts';
import type { PrivateName, PrivateText } from '../shared/private-text.ts';
import type { Somebody } from '../shared/two-people.ts';
import type { RepurchaseEndStatus, RepurchaseReason } from './exits.ts';

/** How amounts of this operation move in time: the policy's name and its parameter, fixed at reception. */
export interface Pricing {
  readonly policy: 'curve_v1';
  /** Daily factor v, 30 significant digits as a decimal string. */
  readonly dailyFactor: string;
}

export interface LoanDocument {
  readonly documentId: string;
  readonly type: string;
  /** File name, unique in the operation. */
  readonly value: PrivateName;
  /** Hexadecimal digest of the content, which is also its address in the document store. */
  readonly sha256: string;
  readonly size: number;
  readonly receivedAt: Timestamp;
}

export interface RenegotiationTerms {
  readonly renegotiationId: RenegotiationId;
  readonly originalProposalCodes: readonly LoanCode[];
  readonly newProposalCode: LoanCode;
  readonly effectiveDate: CalendarDate;
}

export interface SandboxWishes {
  readonly sandboxOutcome?: 'reject' | 'hold';
  readonly sandboxDisbursement?: Cents;
}

export const sandboxWishesOf = ({ sandboxOutcome, sandboxDisbursement }: SandboxWishes): SandboxWishes => ({
  ...(sandboxOutcome !== undefined && { sandboxOutcome }),
  ...(sandboxDisbursement !== undefined && { sandboxDisbursement }),
});

/** What an integrator offers to a fund; but for documents that are added it stays as it was received. */
export interface Offer extends SandboxWishes {
  readonly applicationId: ApplicationId;
  readonly fundId: FundId;
  readonly code: LoanCode;
  readonly productType: string;
  readonly acquisitionValue: Cents;
  readonly dateIssued: CalendarDate;
  readonly installments: readonly ScheduledInstallment[];
  readonly borrower: SealedBorrower;
  readonly documents: readonly LoanDocument[];
}

export interface LoanReceived extends Offer {
  readonly type: 'LoanReceived';
  readonly pricing: Pricing;
  readonly receivedAt: Timestamp;
  readonly renegotiation?: RenegotiationTerms;
}

export interface DecisionRecord {
  readonly decidedAt: Timestamp;
  readonly note?: string;
  /** Present where the fund's rule asked for two people. */
  readonly fourEyes?: BothDeciders;
}

interface BothDeciders {
  /** Of the fund's rule when the second one confirmed. */
  readonly ruleVersion: number;
  readonly firstDecisionId: string;
  readonly first: Somebody;
  readonly second: Somebody;
}

interface Decided {
  readonly decision?: DecisionRecord;
}

export interface LoanApproved extends Decided {
  readonly type: 'LoanApproved';
  readonly approvedAt: Timestamp;
}

export interface RejectionReason {
  readonly code: string;
  readonly message: string;
}
export interface LoanRejected extends Decided {
  readonly type: 'LoanRejected';
  readonly rejectedAt: Timestamp;
  readonly reasons: readonly RejectionReason[];
}

export interface LoanTermSigned extends Decided {
  readonly type: 'LoanTermSigned';
  readonly signedAt: Timestamp;
}

/** What a reversal gives back, and a resolution starts from. */
export type ExitBasis = 'acquisition_value' | 'disbursed_value';

export interface LoanDisbursed extends Decided {
  readonly type: 'LoanDisbursed';
  readonly disbursedValue: Cents;
  readonly disbursedAt: Timestamp;
  readonly disbursementDate?: CalendarDate;
  /** The rule that prices exits of this operation for good; one that was disbursed before it was recorded keeps the price. */
  readonly exitBasis?: ExitBasis;
  /** Carried over from the reception: with this event the renegotiation is through. */
  readonly renegotiation?: RenegotiationTerms;
}

export interface PrepaymentProcessed extends Allocation {
  readonly type: 'PrepaymentProcessed';
  readonly prepaymentValue: Cents;
  readonly prepaymentDate: CalendarDate;
  readonly paymentMethod: PaymentMethod;
  readonly pricing: Pricing;
  readonly processedAt: Timestamp;
}

export interface LoanFullySettled {
  readonly type: 'LoanFullySettled';
  readonly settledAt: CalendarDate;
  readonly closingEvent: 'installment_settled' | 'installment_prepaid';
  readonly totalReceived: Cents;
  readonly processedAt: Timestamp;
}

export interface RepurchaseRequested {
  readonly type: 'RepurchaseRequested';
  readonly reason: RepurchaseReason;
  readonly reasonDetail?: PrivateText;
  readonly effectiveDate: CalendarDate;
  /** The value that counts: informed by the integrator, or the calculated one. */
  readonly repurchaseValue: Cents;
  readonly calculatedValue: Cents;
  readonly valueSource: 'calculated' | 'informed';
  readonly pricing: Pricing;
  /** Present values per open installment for the curve reasons; empty for the others. */
  readonly lines: readonly PresentValueLine[];
  /** Money received before the request; a reversal after payments is flagged by it. */
  readonly receivedValue: Cents;
  readonly calculatedAt: Timestamp;
}

export interface RepurchaseCompleted extends Decided {
  readonly type: 'RepurchaseCompleted';
  readonly reason: RepurchaseReason;
  readonly repurchaseValue: Cents;
  readonly status: RepurchaseEndStatus;
  readonly completedAt: Timestamp;
}

export interface DocumentsAdded {
  readonly type: 'DocumentsAdded';
  readonly documents: readonly LoanDocument[];
  readonly addedAt: Timestamp;
}

/** The key of the borrower's data and of the documents is deleted after this; what they sealed can never be read again. */
export interface BorrowerForgotten {
  readonly type: 'BorrowerForgotten';
  /** Why, without any personal data. */
  readonly reason?: string;
  readonly forgottenAt: Timestamp;
}

/** A renegotiation holds this operation, or this unused code: until it is decided, nothing else happens here. */
export interface LoanReserved {
  readonly type: 'LoanReserved';
  readonly renegotiationId: RenegotiationId;
  /** From then on any process may end a renegotiation that is not decided yet. */
  readonly leaseEndsAt: RealTime;
}

export interface LoanReservationReleased {
  readonly type: 'LoanReservationReleased';
  readonly renegotiationId: RenegotiationId;
}

/** Another operation took this one's place; terminal. */
export interface LoanRenegotiated {
  readonly type: 'LoanRenegotiated';
  readonly renegotiation: RenegotiationTerms;
  readonly renegotiatedAt: Timestamp;
}

/** The operation that replaces this one is active. */
export interface LoanRenegotiationCompleted {
  readonly type: 'LoanRenegotiationCompleted';
  readonly renegotiation: RenegotiationTerms;
  readonly completedAt: Timestamp;
}

export type LoanEvent =
  | LoanReceived
  | LoanApproved
  | LoanRejected
  | LoanTermSigned
  | LoanDisbursed
  | InstallmentEvent
  | PrepaymentProcessed
  | LoanFullySettled
  | RepurchaseRequested
  | RepurchaseCompleted
  | DocumentsAdded
  | BorrowerForgotten
  | LoanReserved
  | LoanReservationReleased
  | LoanRenegotiated
  | LoanRenegotiationCompleted;

export const decided = ({ decision }: Decided): Decided => (decision ? { decision } : {});
