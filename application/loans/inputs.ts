import type {
  PaymentMethod,
  ScheduledInstallment,
  Settlement,
} from '../../domain/installment/installment.ts';
import type {
  LoanDocument,
  RepurchaseEndStatus,
  RepurchaseReason,
  SandboxOutcome,
} from '../../domain/loan/events.ts';
import { addDays } from '../../domain/shared/calendar-date.ts';
import type { CalendarDate } from '../../domain/shared/calendar-date.ts';
import { DomainError } from '../../domain/shared/domain-error.ts';
import type { FundId, InstallmentCode, LoanCode, Timestamp } from '../../domain/shared/identifiers.ts';
import type { Cents } from '../../domain/shared/money.ts';
import type { Borrower } from '../ports/borrower-vault.ts';
import type { BusinessClock } from '../ports/clock.ts';
import type { ReceivedFile } from '../ports/document-store.ts';

/** Names under which idempotency keys are kept; part of the stored format. */
export const ENDPOINTS = {
  assignLoan: 'POST /loan',
  settleInstallment: 'POST /installment/settle',
  processPrepayment: 'POST /installment/prepayment',
  requestRepurchase: 'POST /loan/repurchase',
  renegotiate: 'PATCH /loan/renegotiate',
} as const;

export interface NamedDocument {
  readonly type: string;
  /** Name of the uploaded file. */
  readonly value: string;
}

/** A checked creation request: shapes and cross-field rules hold already. */
export interface AssignLoanInput {
  readonly fundId: FundId;
  readonly code: LoanCode;
  readonly productType: string;
  readonly acquisitionValue: Cents;
  readonly dateIssued: CalendarDate;
  readonly borrower: Borrower;
  readonly installments: readonly ScheduledInstallment[];
  readonly documents: readonly NamedDocument[];
  readonly files: readonly ReceivedFile[];
  /** Only in a sandbox. No part of what makes two requests the same. */
  readonly sandboxOutcome?: SandboxOutcome;
}
export interface LoanReceipt {
  readonly code: LoanCode;
  readonly status: string;
  readonly fundId: FundId;
  readonly receivedAt: Timestamp;
}

export interface SettleInstallmentInput extends Omit<Settlement, 'now'> {
  readonly code: LoanCode;
  readonly installmentCode: InstallmentCode;
  readonly idempotencyKey: string;
}
export interface SettlementReceipt {
  readonly code: LoanCode;
  readonly installmentCode: InstallmentCode;
  readonly status: 'settled';
  readonly settledAt: CalendarDate;
  readonly settledValue: Cents;
  readonly processedAt: Timestamp;
}

export interface ProcessPrepaymentInput {
  readonly code: LoanCode;
  readonly prepaymentValue: Cents;
  readonly prepaymentDate: CalendarDate;
  readonly paymentMethod: PaymentMethod;
  readonly idempotencyKey: string;
}
export interface PrepaymentReceipt {
  readonly code: LoanCode;
  readonly status: 'prepayment_processed';
  readonly prepaymentValue: Cents;
  readonly settledInstallments: readonly InstallmentCode[];
  /** What the open installments are still worth on the prepayment's date. */
  readonly remainingBalance: Cents;
  /** What came in beyond everything that was open. */
  readonly excessValue: Cents;
  /** The installment that carries what paid off no installment. */
  readonly partiallyPaid?: { readonly installmentCode: InstallmentCode; readonly outstandingValue: Cents };
  readonly processedAt: Timestamp;
}

export interface RequestRepurchaseInput {
  readonly code: LoanCode;
  readonly reason: RepurchaseReason;
  readonly reasonDetail?: string;
  readonly effectiveDate: CalendarDate;
  /** Default: what the reason and the operation's books give. */
  readonly repurchaseValue?: Cents;
  readonly idempotencyKey: string;
}
export interface RepurchaseReceipt {
  readonly code: LoanCode;
  /** Pending at first; a replay tells how it ended. */
  readonly status: 'repurchase_pending' | RepurchaseEndStatus;
  readonly reason: RepurchaseReason;
  readonly repurchaseValue: Cents;
  readonly calculatedAt: Timestamp;
}

export interface AddDocumentsInput {
  readonly code: LoanCode;
  readonly documents: readonly NamedDocument[];
  readonly files: readonly ReceivedFile[];
}
export interface DocumentsReceipt {
  readonly code: LoanCode;
  /** Those of the request, in its order. */
  /** `value` is null once the borrower was forgotten. */
  readonly documents: readonly (Omit<LoanDocument, 'value'> & { readonly value: string | null })[];
}

/** Whether payments may carry a date in the future: a sandbox plays whole lives of operations, production does not. */
export interface PaymentDatePolicy {
  readonly allowFuture: boolean;
}

/** @throws DomainError `invalid_date` for a date after tomorrow (America/Sao_Paulo) where the policy forbids it */
export const requirePaymentDate = (
  policy: PaymentDatePolicy,
  clock: BusinessClock,
  field: string,
  date: CalendarDate,
): void => {
  if (policy.allowFuture) return;
  const last = addDays(clock.today(), 1);
  if (date <= last) return;
  const message = `${field} ${date} lies in the future; the last date accepted today is ${last}`;
  throw new DomainError('invalid_date', message, [{ field, code: 'invalid_date', message }]);
};
