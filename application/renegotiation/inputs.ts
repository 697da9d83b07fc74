import type { ScheduledInstallment } from '../../domain/installment/state.ts';
import type { SandboxOutcome } from '../../domain/loan/events.ts';
import type { CalendarDate } from '../../domain/shared/calendar-date.ts';
import type { LoanCode, Timestamp } from '../../domain/shared/identifiers.ts';
import type { Cents } from '../../domain/shared/money.ts';
import type { NamedDocument } from '../loans/inputs.ts';
import type { Borrower } from '../ports/borrower-vault.ts';
import type { ReceivedFile } from '../ports/document-store.ts';

/** The operation that takes the place of others. What is absent is taken over from them. */
export interface NewProposal {
  readonly code: LoanCode;
  readonly acquisitionValue: Cents;
  readonly installments: readonly ScheduledInstallment[];
  /** Default: the effective date. */
  readonly dateIssued?: CalendarDate;
  readonly productType?: string;
  readonly borrower?: Borrower;
  /** Each names one of the request's files. */
  readonly documents?: readonly NamedDocument[];
}

/** A checked renegotiation request: shapes and the rules between fields of the new proposal hold already. */
export interface RenegotiateLoansInput {
  /** In the order of the request; at least one. */
  readonly originalProposalCodes: readonly LoanCode[];
  readonly newProposal: NewProposal;
  readonly effectiveDate: CalendarDate;
  readonly files: readonly ReceivedFile[];
  /** Only in a sandbox. No part of what makes two requests the same. */
  readonly sandboxOutcome?: SandboxOutcome;
}

export interface RenegotiationReceipt {
  readonly originalProposalCodes: readonly LoanCode[];
  readonly newProposal: { readonly code: LoanCode; readonly status: string };
  readonly effectiveDate: CalendarDate;
  readonly processedAt: Timestamp;
}
