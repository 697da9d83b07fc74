import type { ScheduledInstallment } from '../../domain/installment/installment.ts';
import type { SandboxOutcome } from '../../domain/loan/events.ts';
import type { Proposal } from '../../domain/renegotiation/index.ts';
import type { CalendarDate } from '../../domain/shared/calendar-date.ts';
import { DomainError } from '../../domain/shared/domain-error.ts';
import type { LoanCode, Timestamp } from '../../domain/shared/identifiers.ts';
import type { Cents } from '../../domain/shared/money.ts';
import { fileNamed } from '../loans/add-documents.ts';
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

/** The only type of document that may come with a renegotiation. */
const RENEGOTIATION_DOCUMENT = 'renegotiation_document';

/** @throws DomainError `invalid_document_type` */
export const requireDocumentTypes = ({ newProposal }: RenegotiateLoansInput): void => {
  const details = (newProposal.documents ?? []).flatMap(({ type }, i) => {
    if (type === RENEGOTIATION_DOCUMENT) return [];
    const field = `new_loan.backing_documents[${i}].type`;
    const message = `${field}: only ${RENEGOTIATION_DOCUMENT} can be sent with a renegotiation`;
    return [{ field, code: 'invalid_document_type', message }];
  });
  if (details[0]) throw new DomainError('invalid_document_type', details[0].message, details);
};

export const proposalOf = ({
  originalProposalCodes,
  newProposal,
  effectiveDate,
  sandboxOutcome,
}: RenegotiateLoansInput): Proposal => ({
  originalProposalCodes,
  newProposalCode: newProposal.code,
  effectiveDate,
  acquisitionValue: newProposal.acquisitionValue,
  installments: newProposal.installments,
  ...(newProposal.dateIssued !== undefined && { dateIssued: newProposal.dateIssued }),
  ...(newProposal.productType !== undefined && { productType: newProposal.productType }),
  ...(sandboxOutcome !== undefined && { sandboxOutcome }),
});

/** Two requests are the same whatever order they name the originals in: the set is what they replace. */
export const contentsOf = ({
  originalProposalCodes,
  newProposal,
  effectiveDate,
  files,
}: RenegotiateLoansInput) => ({
  originalProposalCodes: originalProposalCodes.toSorted(),
  effectiveDate,
  code: newProposal.code,
  acquisitionValue: newProposal.acquisitionValue,
  dateIssued: newProposal.dateIssued,
  productType: newProposal.productType,
  borrower: newProposal.borrower && {
    ...newProposal.borrower,
    address: { ...newProposal.borrower.address },
  },
  installments: newProposal.installments.map(({ code, dueDate, faceValue }) => ({
    code,
    dueDate,
    faceValue,
  })),
  documents: newProposal.documents?.map(({ type, value }) => ({
    type,
    value,
    sha256: fileNamed(files, value).sha256,
  })),
});
