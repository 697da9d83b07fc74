import { randomUUID } from 'node:crypto';
import type { LoanDocument } from '../../domain/loan/events.ts';
import { DomainError } from '../../domain/shared/domain-error.ts';
import type { Timestamp } from '../../domain/shared/identifiers.ts';
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

/** The documents of a request with what their files are, under new ids. */
export const documentsOf = (
  {
    documents,
    files,
  }: { readonly documents: readonly NamedDocument[]; readonly files: readonly ReceivedFile[] },
  receivedAt: Timestamp,
): readonly LoanDocument[] =>
  documents.map(({ type, value }) => {
    const { sha256, size } = fileNamed(files, value);
    return { documentId: randomUUID(), type, value, sha256, size, receivedAt };
  });
