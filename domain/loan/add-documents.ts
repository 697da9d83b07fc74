import { DomainError } from '../shared/domain-error.ts';
import type { AddDocuments } from './commands.ts';
import type { DocumentsAdded, LoanDocument } from './events.ts';
import { requireLoan, wrongStatus } from './refusals.ts';
import { tookPartInRenegotiation } from './reservation.ts';
import type { ExistingLoan, LoanState } from './state.ts';

/** The signed copy of a debt acknowledgement; there is none without a renegotiation. */
const SIGNED_COPY = 'renegotiation_signature';

const nameTaken = ({ value }: LoanDocument): DomainError =>
  new DomainError(
    'idempotency_conflict',
    `${value} is already a document of this operation with another type or content; send the new one under its own name`,
  );

/** Not there yet. @throws DomainError for a name that stands for something else */
const isNew = (loan: ExistingLoan, document: LoanDocument): boolean => {
  const present = loan.documents.find(({ value }) => value === document.value);
  if (!present) return true;
  if (present.sha256 !== document.sha256 || present.type !== document.type) throw nameTaken(document);
  return false;
};

/**
 * Adds documents to an operation at any time of its life, unless it was rejected. A name is its document's key: what is there
 * already is not added twice, and that answer comes before any question about the operation's status.
 */
export const addDocuments = (command: AddDocuments, state: LoanState): readonly DocumentsAdded[] => {
  const loan = requireLoan(state);
  const documents = command.documents.filter((document) => isNew(loan, document));
  if (documents.length === 0) return [];
  if (loan.status === 'rejected') throw wrongStatus(loan, 'a rejected operation takes no further documents');
  // The key is gone, and a second one would be missed by whoever looks for what is left of the borrower.
  if (loan.borrowerForgottenAt !== undefined) {
    throw wrongStatus(loan, 'its borrower was forgotten, so it takes no further documents');
  }
  if (documents.some(({ type }) => type === SIGNED_COPY) && !tookPartInRenegotiation(loan)) {
    throw wrongStatus(loan, `a ${SIGNED_COPY} belongs to an operation that took part in a renegotiation`);
  }
  return [{ type: 'DocumentsAdded', documents, addedAt: command.now }];
};
