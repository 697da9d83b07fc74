import type { Proposal } from '../../domain/renegotiation/index.ts';
import type { CalendarDate } from '../../domain/shared/calendar-date.ts';
import { DomainError } from '../../domain/shared/domain-error.ts';
import type { LoanCode, Timestamp } from '../../domain/shared/identifiers.ts';
import { fileNamed } from '../loans/add-documents.ts';
import type { NamedDocument } from '../loans/add-documents.ts';
import type { Borrower } from '../ports/borrower-vault.ts';
import type { ReceivedFile } from '../ports/document-store.ts';

/** A checked renegotiation request: shapes and the rules between fields of the new operation hold already. */
export interface AskedRenegotiation extends Proposal {
  /** Default: the one of the originals. */
  readonly borrower?: Borrower;
  /** Each names one of the request's files. Default: those of the originals. */
  readonly documents?: readonly NamedDocument[];
  readonly files: readonly ReceivedFile[];
}

export interface RenegotiationReceipt {
  readonly originalProposalCodes: readonly LoanCode[];
  readonly newProposal: { readonly code: LoanCode; readonly status: string };
  readonly effectiveDate: CalendarDate;
  readonly processedAt: Timestamp;
}

const RENEGOTIATION_DOCUMENT = 'renegotiation_document';

/** @throws DomainError `invalid_document_type` */
export const requireDocumentTypes = ({ documents = [] }: AskedRenegotiation): void => {
  const details = documents.flatMap(({ type }, i) => {
    if (type === RENEGOTIATION_DOCUMENT) return [];
    const field = `new_loan.backing_documents[${i}].type`;
    const message = `${field}: only ${RENEGOTIATION_DOCUMENT} can be sent with a renegotiation`;
    return [{ field, code: 'invalid_document_type', message }];
  });
  if (details[0]) throw new DomainError('invalid_document_type', details[0].message, details);
};

/** Two requests are the same whatever order they name the originals in: the set is what they replace. */
export const contentsOf = ({ files, ...asked }: AskedRenegotiation) => ({
  originalProposalCodes: asked.originalProposalCodes.toSorted(),
  effectiveDate: asked.effectiveDate,
  code: asked.newProposalCode,
  acquisitionValue: asked.acquisitionValue,
  dateIssued: asked.dateIssued,
  productType: asked.productType,
  borrower: asked.borrower && { ...asked.borrower, address: { ...asked.borrower.address } },
  installments: asked.installments.map(({ code, dueDate, faceValue }) => ({ code, dueDate, faceValue })),
  documents: asked.documents?.map(({ type, value }) => ({
    type,
    value,
    sha256: fileNamed(files, value).sha256,
  })),
});
