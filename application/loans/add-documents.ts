import { randomUUID } from 'node:crypto';
import type { LoanDocument } from '../../domain/loan/events.ts';
import { loanDecider } from '../../domain/loan/index.ts';
import type { LoanEvent, LoanState } from '../../domain/loan/index.ts';
import { isSameDocument } from '../../domain/loan/borrower-and-documents.ts';
import { DomainError } from '../../domain/shared/domain-error.ts';
import type { LoanCode, Timestamp } from '../../domain/shared/identifiers.ts';
import type { PrivateName } from '../../domain/shared/private-text.ts';
import { askedBy, loanStream } from '../command-handling/operation.ts';
import type { BorrowerVault } from '../ports/borrower-vault.ts';
import { NoOperationKeyError } from '../ports/document-store.ts';
import type { ReceivedFile } from '../ports/document-store.ts';
import type { Outcome, RequestContext } from '../command-handling/request-context.ts';
import { refusedNames } from './file-names.ts';
import type { LoanParts } from './loan-parts.ts';

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

export interface NamedDocument {
  readonly type: string;
  readonly value: string;
}

export interface DocumentsOfRequest {
  readonly documents: readonly NamedDocument[];
  readonly files: readonly ReceivedFile[];
}

/** What a repeated request is compared with. */
export const contentsOfDocuments = ({ documents, files }: DocumentsOfRequest) =>
  documents.map(({ type, value }) => ({ type, value, sha256: fileNamed(files, value).sha256 }));

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

/** Sealed, but where an earlier version stored the same name plainly. Undefined when the operation's key is gone. */
export const privateNames = async (
  vault: Pick<BorrowerVault, 'sealNames'>,
  stream: string,
  names: readonly string[],
  present: readonly LoanDocument[] = [],
): Promise<readonly PrivateName[] | undefined> => {
  const sealed = await vault.sealNames(stream, names);
  return sealed?.map((name, i) => present.find(({ value }) => value === names[i])?.value ?? name);
};

export interface AskedDocuments extends DocumentsOfRequest {
  readonly code: LoanCode;
}

export interface DocumentsReceipt {
  readonly code: LoanCode;
  /** Those of the request, in its order; `value` is null once the borrower was forgotten. */
  readonly documents: readonly (Omit<LoanDocument, 'value'> & { readonly value: string | null })[];
}

type Adding = Pick<LoanParts, 'commands' | 'vault' | 'documents' | 'inspector' | 'clock'>;

export const PDF_ONLY = ['pdf'] as const;
export const PDF_OR_WORD = ['pdf', 'docx'] as const;
/**
 * Of one operation: each read shows all of them, and the event of a renegotiation that inherits them names them all. Asked at the door
 * alone, because earlier versions took more, which an audit decides again.
 */
const MOST_DOCUMENTS = 500;
/** The only type that may come as a Word document. */
const DEBT_ACKNOWLEDGEMENT = 'renegotiation_document';

/**
 * Adds documents to an operation. A document's name is its key: the same name with the same content is a replay.
 * @throws DomainError `invalid_file`, `validation_error`, `loan_not_found`, `idempotency_conflict`, `operation_invalid_state`
 */
export const addDocuments = async (
  parts: Adding,
  context: RequestContext,
  input: AskedDocuments,
): Promise<Outcome<DocumentsReceipt>> => {
  await inspect(parts, context, input);
  const stream = loanStream(context.applicationId, input.code);
  const handled = await parts.commands.handle({
    stream,
    ...askedBy(context),
    decide: (state) => add(parts, stream, input, state),
  });
  // Nothing to add means that an earlier request had added all of it.
  const replayed = handled.events.length === 0;
  return { replayed, result: await receiptOf(parts, stream, input, handled.state) };
};

const inspect = async (
  { inspector }: Adding,
  context: RequestContext,
  { documents, files }: AskedDocuments,
): Promise<void> => {
  for (const { type, value } of documents) {
    const accepted = type === DEBT_ACKNOWLEDGEMENT ? PDF_OR_WORD : PDF_ONLY;
    await inspector.inspect(fileNamed(files, value), accepted, context);
  }
};

/** Decided first, so that a refused request stores nothing; then contents are durable before the event that names them. */
const add = async (
  parts: Adding,
  stream: string,
  input: AskedDocuments,
  state: LoanState,
): Promise<readonly LoanEvent[]> => {
  const { documents, clock } = parts;
  const now = clock.now();
  const requested = await requestedOf(parts, stream, input, state);
  const refused = refusedNames(
    requested.map((document, i) => (isStored(state, document) ? undefined : input.documents[i]!.value)),
    'documents',
  );
  if (refused) throw refused;
  const events = loanDecider.decide({ type: 'AddDocuments', documents: requested, now }, state);
  const added = events.flatMap((event) => (event.type === 'DocumentsAdded' ? event.documents : []));
  const present = 'schedule' in state ? state.documents.length : 0;
  if (added.length > Math.max(0, MOST_DOCUMENTS - present)) throw noRoom(input.code, present);
  const files = added.map((document) =>
    fileNamed(input.files, input.documents[requested.indexOf(document)]!.value),
  );
  try {
    await Promise.all(files.map((file) => documents.put(stream, file)));
  } catch (error) {
    // Deleted since the names were sealed: decided anew, on the record that the borrower was forgotten.
    throw error instanceof NoOperationKeyError ? keyGone(input.code) : error;
  }
  return events;
};

const requestedOf = async (
  { vault, clock }: Adding,
  stream: string,
  input: AskedDocuments,
  state: LoanState,
): Promise<readonly LoanDocument[]> => {
  const values = input.documents.map(({ value }) => value);
  const forgotten = 'schedule' in state && state.borrowerForgottenAt !== undefined;
  // Without an operation, or with a forgotten borrower, nothing is stored under these names, and none is compared.
  if (forgotten || !('schedule' in state)) return documentsOf(input, values, clock.now());
  const names = await privateNames(vault, stream, values, state.documents);
  if (!names) throw keyGone(state.code);
  return documentsOf(input, names, clock.now());
};

const receiptOf = async (
  parts: Adding,
  stream: string,
  input: AskedDocuments,
  state: LoanState,
): Promise<DocumentsReceipt> => {
  if (!('schedule' in state)) throw new Error('an operation that took documents has a state');
  const requested = await requestedOf(parts, stream, input, state);
  const documents = requested.map((document, i) => {
    const stored = state.documents.find((one) => isSameDocument(state, one, document));
    if (!stored) throw new Error('an accepted document stands in the state');
    const value = state.borrowerForgottenAt === undefined ? input.documents[i]!.value : null;
    return { ...stored, value };
  });
  return { code: input.code, documents };
};

const isStored = (state: LoanState, document: LoanDocument): boolean =>
  'schedule' in state && state.documents.some((one) => isSameDocument(state, one, document));

const noRoom = (code: LoanCode, present: number): DomainError =>
  new DomainError(
    'operation_invalid_state',
    `operation ${code} has ${present} documents, and may have at most ${MOST_DOCUMENTS}`,
  );

const keyGone = (code: LoanCode): DomainError =>
  new DomainError(
    'operation_invalid_state',
    `the key of operation ${code} was deleted, so it takes no further documents`,
  );
