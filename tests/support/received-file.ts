import { createHash } from 'node:crypto';
import type { DocumentInspector, FileKind, ReceivedFile } from '../../application/ports/document-store.ts';
import { DomainError } from '../../domain/shared/domain-error.ts';

/** A file as a request would have brought it; `overrides` may claim what the content is not. */
export const receivedFile = (
  name: string,
  content: Uint8Array | string,
  overrides: Partial<ReceivedFile> = {},
): ReceivedFile => {
  const bytes = Buffer.from(content);
  return {
    name,
    field: 'files[0]',
    size: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    read: async function* ({ start, end } = { start: 0, end: bytes.length }) {
      yield bytes.subarray(start, end);
    },
    ...overrides,
  };
};

/** Takes every file for one of this kind. */
export const inspectorOf = (kind: FileKind): DocumentInspector => ({
  inspect: ({ name, field }, accepted) => {
    if (accepted.includes(kind)) return Promise.resolve(kind);
    const message = `file ${name}: it is a ${kind}`;
    return Promise.reject(
      new DomainError('invalid_file', message, [{ field, code: 'invalid_file', message }]),
    );
  },
});
