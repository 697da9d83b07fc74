import { createHash } from 'node:crypto';
import type { ReceivedFile } from '../../application/ports/document-store.ts';

/** A file as a request would have brought it; `overrides` may claim what the content is not. */
export const receivedFile = (
  name: string,
  content: Uint8Array | string,
  overrides: Partial<ReceivedFile> = {},
): ReceivedFile => {
  const bytes = Buffer.from(content);
  return {
    name,
    size: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    read: async function* ({ start, end } = { start: 0, end: bytes.length }) {
      yield bytes.subarray(start, end);
    },
    ...overrides,
  };
};
