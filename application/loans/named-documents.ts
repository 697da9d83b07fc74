import { randomUUID } from 'node:crypto';
import type { LoanDocument } from '../../domain/loan/events.ts';
import { DomainError } from '../../domain/shared/domain-error.ts';
import type { Timestamp } from '../../domain/shared/identifiers.ts';
import type { PrivateName } from '../../domain/shared/private-text.ts';
import type { BorrowerVault } from '../ports/borrower-vault.ts';
import type { ReceivedFile } from '../ports/document-store.ts';
import type { NamedDocument } from './inputs.ts';

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
