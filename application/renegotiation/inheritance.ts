import { randomUUID } from 'node:crypto';
import type { ExistingLoan, LoanDocument, LoanState } from '../../domain/loan/index.ts';
import { DomainError } from '../../domain/shared/domain-error.ts';
import type { SealedBorrower } from '../../domain/shared/identifiers.ts';
import type { PrivateName } from '../../domain/shared/private-text.ts';
import { loanStream } from '../command-handling/operation.ts';
import { documentsOf, fileNamed, privateNames } from '../loans/add-documents.ts';
import type { Borrower, BorrowerVault } from '../ports/borrower-vault.ts';
import type { BusinessClock } from '../ports/clock.ts';
import type { DocumentStore } from '../ports/document-store.ts';
import { readTexts } from '../privacy/forget-borrower.ts';
import type { AskedRenegotiation } from './request.ts';

interface Dependencies {
  readonly vault: BorrowerVault;
  readonly documents: Pick<DocumentStore, 'put' | 'get' | 'copy'>;
  readonly clock: BusinessClock;
}

/**
 * What the new operation takes over, made its own: borrower and documents are sealed with the key of one operation, so that
 * each can be forgotten without the other. Prepared before anything is reserved; what was added since is caught up with after.
 */
export class Inheritance {
  readonly #deps: Dependencies;
  readonly #input: AskedRenegotiation;
  readonly #stream: string;
  readonly #stored = new Set<string>();
  #borrower: SealedBorrower | undefined;

  constructor(dependencies: Dependencies, input: AskedRenegotiation, applicationId: string) {
    this.#deps = dependencies;
    this.#input = input;
    this.#stream = loanStream(applicationId, input.newProposalCode);
  }

  /** Everything is durable when it resolves. @throws DomainError `validation_error`, `operation_invalid_state`, `missing_file` */
  async take(originals: readonly LoanState[]) {
    const loans = originals.filter((state) => 'schedule' in state);
    this.#requireRemembered(loans);
    // One after the other: the files of a request that is refused are gone as soon as its answer is, and the key that names of
    // documents are sealed with is made with the borrower.
    this.#borrower ??= await this.#sealBorrower(loans);
    return { borrower: this.#borrower, documents: await this.#takeDocuments(loans) };
  }

  /** Refuses what `take` would refuse, and stores nothing. */
  async check(originals: readonly ExistingLoan[]): Promise<void> {
    this.#requireRemembered(originals);
    if (!this.#input.borrower) await this.#commonBorrower(originals);
    const { documents } = this.#input;
    if (documents !== undefined) documents.forEach(({ value }) => fileNamed(this.#input.files, value));
    else await this.#forEachDocument(originals, (loan, document) => this.#requireReadable(loan, document));
  }

  /** By the record: a key that another process deleted is still in use here for some seconds. */
  #requireRemembered(originals: readonly ExistingLoan[]): void {
    const forgotten = originals.find(({ borrowerForgottenAt }) => borrowerForgottenAt !== undefined);
    if (forgotten && !this.#input.borrower) throw borrowerForgotten(forgotten);
  }

  async #sealBorrower(originals: readonly ExistingLoan[]): Promise<SealedBorrower> {
    const borrower = this.#input.borrower ?? (await this.#commonBorrower(originals));
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

  async #borrowerOf(loan: ExistingLoan): Promise<Borrower> {
    const opened = await this.#deps.vault.open(streamOf(loan), loan.borrower);
    if (!opened) throw borrowerForgotten(loan);
    return opened;
  }

  async #takeDocuments(originals: readonly ExistingLoan[]): Promise<readonly LoanDocument[]> {
    const { documents } = this.#input;
    if (documents === undefined) return this.#copyDocuments(originals);
    const { files } = this.#input;
    for (const { value } of documents) {
      const file = fileNamed(files, value);
      await this.#once(file.sha256, () => this.#deps.documents.put(this.#stream, file));
    }
    const names = await this.#sealNames(documents.map(({ value }) => value));
    return documentsOf({ documents, files }, names, this.#deps.clock.now());
  }

  async #sealNames(names: readonly string[]): Promise<readonly PrivateName[]> {
    const sealed = await privateNames(this.#deps.vault, this.#stream, names);
    if (!sealed) throw new Error(`the key of ${this.#stream} was deleted while it was received`);
    return sealed;
  }

  async #copyDocuments(originals: readonly ExistingLoan[]): Promise<readonly LoanDocument[]> {
    const receivedAt = this.#deps.clock.now();
    const byName = await this.#forEachDocument(originals, (loan, document) =>
      this.#once(document.sha256, () => this.#copy(loan, document)),
    );
    const sealed = await this.#sealNames([...byName.keys()]);
    return [...byName.values()].map((document, i) => ({
      ...document,
      value: sealed[i]!,
      documentId: randomUUID(),
      receivedAt,
    }));
  }

  async #forEachDocument(
    originals: readonly ExistingLoan[],
    visit: (loan: ExistingLoan, document: LoanDocument) => Promise<void>,
  ): Promise<ReadonlyMap<string, LoanDocument>> {
    const byName = new Map<string, LoanDocument>();
    for (const loan of originals) {
      const names = await this.#namesOf(loan);
      for (const [i, document] of loan.documents.entries()) {
        const name = names[i];
        if (name === undefined) throw unreadable(loan, document);
        requireSameContent(byName.get(name), document, name);
        await visit(loan, document);
        byName.set(name, document);
      }
    }
    return byName;
  }

  #namesOf(loan: ExistingLoan): Promise<readonly (string | undefined)[]> {
    if (loan.borrowerForgottenAt !== undefined) return Promise.resolve([]);
    const names = loan.documents.map(({ value }) => value);
    return readTexts(this.#deps.vault, streamOf(loan), names);
  }

  async #copy(loan: ExistingLoan, document: LoanDocument): Promise<void> {
    if (await this.#deps.documents.copy(streamOf(loan), this.#stream, document.sha256)) return;
    throw unreadable(loan, document);
  }

  async #requireReadable(loan: ExistingLoan, document: LoanDocument): Promise<void> {
    if (await this.#deps.documents.get(streamOf(loan), document.sha256)) return;
    throw unreadable(loan, document);
  }

  async #once(sha256: string, store: () => Promise<void>): Promise<void> {
    if (this.#stored.has(sha256)) return;
    await store();
    this.#stored.add(sha256);
  }
}

const streamOf = ({ applicationId, code }: ExistingLoan): string => loanStream(applicationId, code);

const borrowerForgotten = ({ code }: ExistingLoan): DomainError =>
  new DomainError(
    'operation_invalid_state',
    `the borrower of operation ${code} was forgotten; send that of the new operation as new_loan.borrower, in a form`,
  );

const unreadable = ({ code }: ExistingLoan, { documentId }: LoanDocument): DomainError =>
  new DomainError(
    'operation_invalid_state',
    `document ${documentId} of operation ${code} cannot be read any more; send new documents with the renegotiation`,
  );

const requireSameContent = (
  other: LoanDocument | undefined,
  { sha256 }: LoanDocument,
  name: string,
): void => {
  if (!other || other.sha256 === sha256) return;
  const message = `the originals hold different documents named ${name}; send the documents of the new operation`;
  const violation = { field: 'new_loan.backing_documents', code: 'ambiguous_document', message };
  throw new DomainError('validation_error', message, [violation]);
};
