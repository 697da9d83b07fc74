import type { Prepayment } from '../curve/prepayment.ts';
import type { PaymentMethod, Settlement } from '../installment/installment.ts';
import type { CalendarDate } from '../shared/calendar-date.ts';
import type {
  InstallmentCode,
  LoanCode,
  RealTime,
  RenegotiationId,
  Timestamp,
} from '../shared/identifiers.ts';
import type { Cents } from '../shared/money.ts';
import type { PrivateText } from '../shared/private-text.ts';
import type {
  DecisionRecord,
  ExitBasis,
  LoanDocument,
  LoanReceived,
  Offer,
  RejectionReason,
  RenegotiationTerms,
} from './events.ts';
import type { RepurchaseReason } from './exits.ts';

/** `now` comes in with every command: the domain reads no clock. */
interface At {
  readonly now: Timestamp;
}

export interface ReceiveLoan extends At, Offer {
  readonly type: 'ReceiveLoan';
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
  /** Refuses once the operation is approved: the rule of earlier releases, while one of them may run. Default: until the disbursement. */
  readonly onlyBeforeApproval?: true;
}
export interface SignLoanTerm extends Decided {
  readonly type: 'SignLoanTerm';
}
export interface DisburseLoan extends Decided {
  readonly type: 'DisburseLoan';
  /** Default: the acquisition value. */
  readonly disbursedValue?: Cents;
  /** Day of the payment, not before the issue; default: none is stated. */
  readonly disbursementDate?: CalendarDate;
  /** Default: what was disbursed. The acquisition value was the rule of earlier releases. */
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
  readonly leftover?: Prepayment['leftover'];
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
/** Documents that the operation has already, by name and content, are left out. */
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
export interface ReceiveRenegotiatedLoan extends OfRenegotiation {
  readonly type: 'ReceiveRenegotiatedLoan';
  readonly received: LoanReceived;
}
export interface CompleteRenegotiation extends OfRenegotiation {
  readonly type: 'CompleteRenegotiation';
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
