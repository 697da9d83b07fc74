import type { Proposal } from '../../domain/renegotiation/state.ts';
import { DomainError } from '../../domain/shared/domain-error.ts';
import { contentsOfDocuments } from '../loans/add-documents.ts';
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
export const contentsOf = (input: AskedRenegotiation) => {
  const { files, sandboxOutcome: _, sandboxDisbursement: __, ...asked } = input;
  const { documents, newProposalCode: code, originalProposalCodes, ...terms } = asked;
  return {
    ...terms,
    code,
    originalProposalCodes: originalProposalCodes.toSorted(),
    documents: documents && contentsOfDocuments({ documents, files }),
  };
};
