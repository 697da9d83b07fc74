import { randomUUID } from 'node:crypto';
import type { ExistingLoan, LoanDocument, LoanState } from '../../domain/loan/index.ts';
import { DomainError } from '../../domain/shared/domain-error.ts';
import type { LoanCode, SealedBorrower } from '../../domain/shared/identifiers.ts';
import { loanStream } from '../command-handling/stream-names.ts';
import type { Borrower, BorrowerVault } from '../ports/borrower-vault.ts';
import type { Clock } from '../ports/clock.ts';
import type { DocumentCopies } from '../ports/document-copies.ts';
import type { DocumentStore } from '../ports/document-store.ts';
import { documentsOf, fileNamed } from '../loans/named-documents.ts';
import type { RenegotiateLoansInput } from './inputs.ts';
import type { Inherited } from './protocol.ts';

interface Dependencies {
  readonly vault: BorrowerVault;
  readonly documents: DocumentStore & DocumentCopies;
  readonly clock: Clock;
}

/**
 * What the new operation takes over, made its own: borrower and documents are sealed with the key of one operation, so that
 * each can be forgotten without the other. Prepared before anything is reserved; what was added since is caught up with after.
 */
export class Inheritance {
  readonly #deps: Dependencies;
  readonly #input: RenegotiateLoansInput;
  readonly #stream: string;
  readonly #stored = new Set<string>();
  #borrower: SealedBorrower | undefined;

  constructor(dependencies: Dependencies, input: RenegotiateLoansInput, applicationId: string) {
    this.#deps = dependencies;
    this.#input = input;
    this.#stream = loanStream(applicationId, input.newProposal.code);
  }

  /** Everything is durable when it resolves. @throws DomainError `validation_error`, `operation_invalid_state`, `missing_file` */
  async take(originals: readonly LoanState[]): Promise<Inherited> {
    const loans = originals.filter((state) => 'schedule' in state);
    const [borrower, documents] = await Promise.all([
      this.#borrower ?? this.#sealBorrower(loans),
      this.#takeDocuments(loans),
    ]);
    this.#borrower = borrower;
    return { borrower, documents };
  }

  async #sealBorrower(originals: readonly ExistingLoan[]): Promise<SealedBorrower> {
    const borrower = this.#input.newProposal.borrower ?? (await this.#commonBorrower(originals));
    return this.#deps.vault.seal(this.#stream, borrower);
  }

  async #commonBorrower(originals: readonly ExistingLoan[]): Promise<Borrower> {
    const borrowers = await Promise.all(originals.map((loan) => this.#borrowerOf(loan)));
    const [first, ...others] = borrowers;
    if (!first) throw new RangeError('a renegotiation has at least one original');
    if (others.every((other) => other.document_number === first.document_number)) return first;
    const field = 'new_loan.borrower';
    const message = `${field}: the originals have different borrowers, so name the one of the new operation`;
    throw new DomainError('validation_error', message, [{ field, code: 'ambiguous_borrower', message }]);
  }

  async #borrowerOf({ applicationId, code, borrower }: ExistingLoan): Promise<Borrower> {
    const opened = await this.#deps.vault.open(loanStream(applicationId, code), borrower);
    if (opened) return opened;
    throw new DomainError(
      'operation_invalid_state',
      `the borrower of operation ${code} was forgotten; send the borrower of the new operation`,
    );
  }

  async #takeDocuments(originals: readonly ExistingLoan[]): Promise<readonly LoanDocument[]> {
    const { documents } = this.#input.newProposal;
    if (documents === undefined) return this.#copyDocuments(originals);
    const { files } = this.#input;
    for (const { value } of documents) {
      const file = fileNamed(files, value);
      await this.#once(file.sha256, () => this.#deps.documents.put(this.#stream, file));
    }
    return documentsOf({ documents, files }, this.#deps.clock.now());
  }

  async #copyDocuments(originals: readonly ExistingLoan[]): Promise<readonly LoanDocument[]> {
    const receivedAt = this.#deps.clock.now();
    const byName = new Map<string, LoanDocument>();
    for (const { applicationId, code, documents } of originals) {
      for (const document of documents) {
        requireSameContent(byName.get(document.value), document);
        await this.#once(document.sha256, () => this.#copy(loanStream(applicationId, code), code, document));
        byName.set(document.value, { ...document, documentId: randomUUID(), receivedAt });
      }
    }
    return [...byName.values()];
  }

  async #copy(from: string, code: LoanCode, { value, sha256 }: LoanDocument): Promise<void> {
    if (await this.#deps.documents.copy(from, this.#stream, sha256)) return;
    throw new DomainError(
      'operation_invalid_state',
      `document ${value} of operation ${code} cannot be read any more; send new documents with the renegotiation`,
    );
  }

  async #once(sha256: string, store: () => Promise<void>): Promise<void> {
    if (this.#stored.has(sha256)) return;
    await store();
    this.#stored.add(sha256);
  }
}

const requireSameContent = (other: LoanDocument | undefined, { value, sha256 }: LoanDocument): void => {
  if (!other || other.sha256 === sha256) return;
  const message = `the originals hold different documents named ${value}; send the documents of the new operation`;
  const violation = { field: 'new_loan.backing_documents', code: 'ambiguous_document', message };
  throw new DomainError('validation_error', message, [violation]);
};
