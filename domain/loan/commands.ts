import type { PaymentMethod, ScheduledInstallment, Settlement } from '../installment/installment.ts';
import type { CalendarDate } from '../shared/calendar-date.ts';
import type {
  ApplicationId,
  FundId,
  InstallmentCode,
  LoanCode,
  RealTime,
  RenegotiationId,
  SealedBorrower,
  Timestamp,
} from '../shared/identifiers.ts';
import type { Cents } from '../shared/money.ts';
import type { PrivateText } from '../shared/private-text.ts';
import type {
  DecisionRecord,
  ExitBasis,
  LoanDocument,
  LoanReceived,
  RejectionReason,
  RenegotiationTerms,
  RepurchaseReason,
  SandboxOutcome,
} from './events.ts';

/** `now` comes in with every command: the domain reads no clock. */
interface At {
  readonly now: Timestamp;
}

export interface ReceiveLoan extends At {
  readonly type: 'ReceiveLoan';
  readonly applicationId: ApplicationId;
  readonly fundId: FundId;
  readonly code: LoanCode;
  readonly productType: string;
  readonly acquisitionValue: Cents;
  readonly dateIssued: CalendarDate;
  readonly installments: readonly ScheduledInstallment[];
  readonly borrower: SealedBorrower;
  readonly documents: readonly LoanDocument[];
  readonly sandboxOutcome?: SandboxOutcome;
}
/** A step of the administrator; `decision` is kept in the event as it is. */
interface Decided extends At {
  readonly decision?: DecisionRecord;
}
export interface ApproveLoan extends Decided {
  readonly type: 'ApproveLoan';
}
export interface RejectLoan extends Decided {
  readonly type: 'RejectLoan';
  readonly reasons: readonly RejectionReason[];
  /** Default: until the disbursement. The other one is the rule of before, for as long as something else goes by it. */
  readonly onlyBeforeApproval?: true;
}
export interface SignLoanTerm extends Decided {
  readonly type: 'SignLoanTerm';
}
export interface DisburseLoan extends Decided {
  readonly type: 'DisburseLoan';
  /** Default: the acquisition value. */
  readonly disbursedValue?: Cents;
  /** Default: `now`. */
  readonly disbursedAt?: Timestamp;
  /** Day of the payment, not before the issue; default: none is stated. */
  readonly disbursementDate?: CalendarDate;
  /** Default: what was disbursed. The other one is the rule of before: for deciding again, and for as long as something else goes by it. */
  readonly exitBasis?: ExitBasis;
}
export interface SettleInstallment extends Settlement {
  readonly type: 'SettleInstallment';
  readonly installmentCode: InstallmentCode;
}
export interface MarkInstallmentsOverdue extends At {
  readonly type: 'MarkInstallmentsOverdue';
  /** Today in America/Sao_Paulo: everything open and due before it is overdue. */
  readonly today: CalendarDate;
}
export interface ProcessPrepayment extends At {
  readonly type: 'ProcessPrepayment';
  readonly prepaymentValue: Cents;
  readonly prepaymentDate: CalendarDate;
  readonly paymentMethod: PaymentMethod;
}
export interface RequestRepurchase extends At {
  readonly type: 'RequestRepurchase';
  readonly reason: RepurchaseReason;
  readonly reasonDetail?: PrivateText;
  readonly effectiveDate: CalendarDate;
  readonly repurchaseValue?: Cents;
}
export interface CompleteRepurchase extends Decided {
  readonly type: 'CompleteRepurchase';
}
/** Those that the operation has already, by name and content, are left out. */
export interface AddDocuments extends At {
  readonly type: 'AddDocuments';
  readonly documents: readonly LoanDocument[];
}

/** At any time of an operation's life; the second time changes nothing. */
export interface ForgetBorrower extends At {
  readonly type: 'ForgetBorrower';
  readonly reason?: string;
}

/** Steps of a renegotiation. Each may be carried out any number of times, by any process: all but the first changes nothing. */
interface OfRenegotiation {
  readonly renegotiationId: RenegotiationId;
}
export interface ReserveLoan extends OfRenegotiation {
  readonly type: 'ReserveLoan';
  readonly leaseEndsAt: RealTime;
}
export interface ReserveLoanCode extends OfRenegotiation {
  readonly type: 'ReserveLoanCode';
  readonly code: LoanCode;
  readonly leaseEndsAt: RealTime;
}
export interface ReleaseReservation extends OfRenegotiation {
  readonly type: 'ReleaseReservation';
}
export interface RenegotiateLoan {
  readonly type: 'RenegotiateLoan';
  readonly renegotiation: RenegotiationTerms;
  readonly renegotiatedAt: Timestamp;
}
/** The operation as the renegotiation decided it. */
export interface ReceiveRenegotiatedLoan extends OfRenegotiation {
  readonly type: 'ReceiveRenegotiatedLoan';
  readonly received: LoanReceived;
}
export interface CompleteRenegotiation extends OfRenegotiation {
  readonly type: 'CompleteRenegotiation';
  /** When the new operation became active. */
  readonly completedAt: Timestamp;
}

export type LoanCommand =
  | ReceiveLoan
  | ApproveLoan
  | RejectLoan
  | SignLoanTerm
  | DisburseLoan
  | SettleInstallment
  | MarkInstallmentsOverdue
  | ProcessPrepayment
  | RequestRepurchase
  | CompleteRepurchase
  | AddDocuments
  | ForgetBorrower
  | ReserveLoan
  | ReserveLoanCode
  | ReleaseReservation
  | RenegotiateLoan
  | ReceiveRenegotiatedLoan
  | CompleteRenegotiation;

/** What a renegotiation does where it holds a reservation, or to get one. */
export type RenegotiationStep =
  ReserveLoan | ReserveLoanCode | ReleaseReservation | RenegotiateLoan | ReceiveRenegotiatedLoan;
