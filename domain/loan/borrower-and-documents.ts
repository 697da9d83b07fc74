import { DomainError } from '../shared/domain-error.ts';
import { isSameName } from '../shared/private-text.ts';
import type { AddDocuments, ForgetBorrower } from './commands.ts';
import type { DocumentsAdded, LoanDocument, BorrowerForgotten } from './events.ts';
import { requireLoan, tookPartInRenegotiation, wrongStatus } from './state.ts';
import type { ExistingLoan, LoanState } from './state.ts';

/** The signed copy of a debt acknowledgement; there is none without a renegotiation. */
const SIGNED_COPY = 'renegotiation_signature';

/** Names the place in the request instead of the file, whose name may be that of a person. */
const nameTaken = (index: number): DomainError => {
  const field = `documents[${index}].value`;
  const message = `${field}: a document of this operation has this name already, with another type or content; send the new one under its own name`;
  return new DomainError('idempotency_conflict', message);
};

/** Whether two documents are one, by name, type and content. Once the borrower is forgotten, only type and content can be compared. */
export const isSameDocument = (
  { borrowerForgottenAt }: ExistingLoan,
  one: LoanDocument,
  other: LoanDocument,
): boolean =>
  borrowerForgottenAt === undefined
    ? isSameName(one.value, other.value)
    : one.sha256 === other.sha256 && one.type === other.type;

/** Not there yet. @throws DomainError for a name that stands for something else */
const isNew = (loan: ExistingLoan, document: LoanDocument, index: number): boolean => {
  const present = loan.documents.find((one) => isSameDocument(loan, one, document));
  if (!present) return true;
  if (present.sha256 !== document.sha256 || present.type !== document.type) throw nameTaken(index);
  return false;
};

/**
 * Adds documents to an operation at any time of its life, unless it was rejected or its borrower was forgotten. A name is its
 * document's key: what is there already is not added twice, and that answer comes before any question about the operation's status.
 */
export const addDocuments = (command: AddDocuments, state: LoanState): readonly DocumentsAdded[] => {
  const loan = requireLoan(state);
  const documents = command.documents.filter((document, index) => isNew(loan, document, index));
  if (documents.length === 0) return [];
  if (loan.status === 'rejected') throw wrongStatus(loan, 'a rejected operation takes no further documents');
  // The key is gone, and a second one would hold personal data that the borrower index does not lead to.
  if (loan.borrowerForgottenAt !== undefined) {
    throw wrongStatus(loan, 'its borrower was forgotten, so it takes no further documents');
  }
  if (documents.some(({ type }) => type === SIGNED_COPY) && !tookPartInRenegotiation(loan)) {
    throw wrongStatus(loan, `a ${SIGNED_COPY} belongs to an operation that took part in a renegotiation`);
  }
  return [{ type: 'DocumentsAdded', documents, addedAt: command.now }];
};

/** Puts on record that the borrower is forgotten, in whatever status the operation is; its money goes on without a name. */
export const forgetBorrower = (
  { reason, now }: ForgetBorrower,
  state: LoanState,
): readonly BorrowerForgotten[] => {
  const loan = requireLoan(state);
  if (loan.borrowerForgottenAt !== undefined) return [];
  return [{ type: 'BorrowerForgotten', ...(reason !== undefined && { reason }), forgottenAt: now }];
};
