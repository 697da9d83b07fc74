import type { Proposal } from '../../domain/renegotiation/index.ts';
import { DomainError } from '../../domain/shared/domain-error.ts';
import { fileNamed } from '../loans/named-documents.ts';
import type { RenegotiateLoansInput } from './inputs.ts';

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
