import { randomUUID } from 'node:crypto';
import type { LoanDocument } from '../../domain/loan/events.ts';
import { isSameDocument, loanDecider } from '../../domain/loan/index.ts';
import type { LoanEvent, LoanState } from '../../domain/loan/index.ts';
import { DomainError } from '../../domain/shared/domain-error.ts';
import type { LoanCode, Timestamp } from '../../domain/shared/identifiers.ts';
import type { PrivateName } from '../../domain/shared/private-text.ts';
import type { CommandHandler } from '../command-handling/command-handler.ts';
import { askedBy, loanStream } from '../command-handling/operation.ts';
import type { BorrowerVault } from '../ports/borrower-vault.ts';
import type { BusinessClock } from '../ports/clock.ts';
import type { DocumentInspector, DocumentStore, ReceivedFile } from '../ports/document-store.ts';
import type { Outcome, RequestContext } from '../ports/clients.ts';
import type { AddDocumentsInput, DocumentsReceipt, NamedDocument } from './inputs.ts';

/** The upload that a document names. @throws DomainError `missing_file` */
export const fileNamed = (files: readonly ReceivedFile[], name: string): ReceivedFile => {
  const file = files.find((f) => f.name === name);
  if (!file)
    throw new DomainError(
      'missing_file',
      `no file named ${name} came with the request; upload it under that name`,
    );
  return file;
};

interface DocumentsOfRequest {
  readonly documents: readonly NamedDocument[];
  readonly files: readonly ReceivedFile[];
}

/** The documents of a request with what their files are, under new ids. @param names those of the documents, in their order */
export const documentsOf = (
  { documents, files }: DocumentsOfRequest,
  names: readonly PrivateName[],
  receivedAt: Timestamp,
): readonly LoanDocument[] =>
  documents.map(({ type, value }, i) => {
    const { sha256, size } = fileNamed(files, value);
    const name = names[i];
    if (name === undefined) throw new RangeError('every document has a name');
    return { documentId: randomUUID(), type, value: name, sha256, size, receivedAt };
  });

/**
 * The names as events of this operation hold them: sealed, but where an earlier version stored the same name plainly, which is
 * then not stored again. Undefined when the operation's key is gone.
 */
export const privateNames = async (
  vault: Pick<BorrowerVault, 'sealNames'>,
  stream: string,
  names: readonly string[],
  present: readonly LoanDocument[] = [],
): Promise<readonly PrivateName[] | undefined> => {
  const sealed = await vault.sealNames(stream, names);
  return sealed?.map((name, i) => present.find(({ value }) => value === names[i])?.value ?? name);
};

interface Dependencies {
  readonly commands: CommandHandler;
  readonly vault: Pick<BorrowerVault, 'sealNames'>;
  readonly documents: Pick<DocumentStore, 'put'>;
  readonly inspector: DocumentInspector;
  readonly clock: BusinessClock;
}

/** The only type that may come as a Word document. */
const DEBT_ACKNOWLEDGEMENT = 'renegotiation_document';

/** Adds documents to an operation. A document's name is its key: the same name with the same content is a replay. */
export class AddDocuments {
  readonly #deps: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
  }

  /** @throws DomainError `invalid_file`, `loan_not_found`, `idempotency_conflict`, `operation_invalid_state` */
  async execute(context: RequestContext, input: AddDocumentsInput): Promise<Outcome<DocumentsReceipt>> {
    await this.#inspect(context, input);
    const stream = loanStream(context.applicationId, input.code);
    const handled = await this.#deps.commands.handle({
      stream,
      ...askedBy(context),
      decide: (state) => this.#add(stream, input, state),
    });
    // Nothing to add means that an earlier request had added all of it.
    const replayed = handled.replayed || handled.events.length === 0;
    return { replayed, result: await this.#receipt(stream, input, handled.state) };
  }

  async #inspect(context: RequestContext, { documents, files }: AddDocumentsInput): Promise<void> {
    for (const { type, value } of documents) {
      const kind = await this.#deps.inspector.inspect(fileNamed(files, value), context);
      if (kind === 'pdf' || type === DEBT_ACKNOWLEDGEMENT) continue;
      throw new DomainError(
        'invalid_file',
        `${value}: only a ${DEBT_ACKNOWLEDGEMENT} may be a Word document; send a PDF`,
      );
    }
  }

  /** Decided first, so that a refused request stores nothing; then contents are durable before the event that names them. */
  async #add(stream: string, input: AddDocumentsInput, state: LoanState): Promise<readonly LoanEvent[]> {
    const { documents, clock } = this.#deps;
    const now = clock.now();
    const requested = await this.#requested(stream, input, state);
    const events = loanDecider.decide({ type: 'AddDocuments', documents: requested, now }, state);
    const added = events.flatMap((event) => (event.type === 'DocumentsAdded' ? event.documents : []));
    await Promise.all(
      added.map((document) => {
        const { value } = input.documents[requested.indexOf(document)]!;
        return documents.put(stream, fileNamed(input.files, value));
      }),
    );
    return events;
  }

  /** The request's documents as an event of this operation would hold them. */
  async #requested(
    stream: string,
    input: AddDocumentsInput,
    state: LoanState,
  ): Promise<readonly LoanDocument[]> {
    const { vault, clock } = this.#deps;
    const values = input.documents.map(({ value }) => value);
    const forgotten = 'schedule' in state && state.borrowerForgottenAt !== undefined;
    // Without an operation, or with a forgotten borrower, nothing is stored under these names, and none is compared.
    if (forgotten || !('schedule' in state)) return documentsOf(input, values, clock.now());
    const names = await privateNames(vault, stream, values, state.documents);
    if (!names) throw keyGone(state.code);
    return documentsOf(input, names, clock.now());
  }

  async #receipt(stream: string, input: AddDocumentsInput, state: LoanState): Promise<DocumentsReceipt> {
    if (!('schedule' in state)) throw new Error('an operation that took documents has a state');
    const requested = await this.#requested(stream, input, state);
    const documents = requested.map((document, i) => {
      const stored = state.documents.find((one) => isSameDocument(state, one, document));
      if (!stored) throw new Error('an accepted document stands in the state');
      const value = state.borrowerForgottenAt === undefined ? input.documents[i]!.value : null;
      return { ...stored, value };
    });
    return { code: input.code, documents };
  }
}

/** Deleted without a record of it: there is nothing to seal with, and nothing is ever stored plainly. */
const keyGone = (code: LoanCode): DomainError =>
  new DomainError(
    'operation_invalid_state',
    `the key of operation ${code} was deleted, so it takes no further documents`,
  );
