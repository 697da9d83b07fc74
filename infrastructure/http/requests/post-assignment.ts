import type {
  AddDocumentsInput,
  NamedDocument,
  ProcessPrepaymentInput,
  RequestRepurchaseInput,
} from '../../../application/loans/inputs.ts';
import type { ReceivedFile } from '../../../application/ports/document-store.ts';
import type { PaymentMethod } from '../../../domain/installment/events.ts';
import type { RepurchaseReason } from '../../../domain/loan/events.ts';
import type { CalendarDate } from '../../../domain/shared/calendar-date.ts';
import type { LoanCode } from '../../../domain/shared/identifiers.ts';
import { centsFromAmount } from '../../../domain/shared/money.ts';
import { checkDocumentNames, namedDocuments } from './loan-data.ts';
import type { CrossCheck } from './request-rules.ts';

/** What the schema Prepayment has let through. */
export interface PrepaymentBody {
  readonly originator_proposal_code: string;
  readonly prepayment_value: number;
  readonly prepayment_date: string;
  readonly payment_method: PaymentMethod;
  readonly idempotency_key: string;
  /** True: only say what would happen. */
  readonly dry_run?: boolean;
}

export const processPrepaymentInput = (body: PrepaymentBody): ProcessPrepaymentInput => ({
  code: body.originator_proposal_code as LoanCode,
  prepaymentValue: centsFromAmount(body.prepayment_value),
  prepaymentDate: body.prepayment_date as CalendarDate,
  paymentMethod: body.payment_method,
  idempotencyKey: body.idempotency_key,
});

/** What the schema RepurchaseRequest has let through. */
export interface RepurchaseBody {
  readonly originator_proposal_code: string;
  readonly reason: RepurchaseReason;
  readonly reason_detail?: string;
  readonly effective_date: string;
  readonly repurchase_value?: number;
  readonly idempotency_key: string;
  /** True: only say what would happen. */
  readonly dry_run?: boolean;
}

export const requestRepurchaseInput = (body: RepurchaseBody): RequestRepurchaseInput => ({
  code: body.originator_proposal_code as LoanCode,
  reason: body.reason,
  ...(body.reason_detail !== undefined && { reasonDetail: body.reason_detail }),
  effectiveDate: body.effective_date as CalendarDate,
  ...(body.repurchase_value !== undefined && { repurchaseValue: centsFromAmount(body.repurchase_value) }),
  idempotencyKey: body.idempotency_key,
});

/** What the schema FilesData has let through. */
export interface FilesDataBody {
  readonly originator_proposal_code: string;
  readonly documents: readonly NamedDocument[];
}

export const checkFilesData: CrossCheck = (draft) => checkDocumentNames(draft['documents'], 'documents');

export const addDocumentsInput = (
  body: FilesDataBody,
  files: readonly ReceivedFile[],
): AddDocumentsInput => ({
  code: body.originator_proposal_code as LoanCode,
  documents: namedDocuments(body.documents),
  files,
});
