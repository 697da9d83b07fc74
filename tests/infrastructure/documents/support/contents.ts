import { createHash } from 'node:crypto';
import type { ReceivedFile } from '../../../../application/ports/document-store.ts';

/** A file that arrives in pieces of so many bytes. */
export const content = (bytes: Uint8Array | string, pieceBytes = 65_536): ReceivedFile => {
  const buffer = Buffer.from(bytes);
  return {
    name: 'file.pdf',
    field: 'files[0]',
    size: buffer.length,
    sha256: createHash('sha256').update(buffer).digest('hex'),
    read: async function* () {
      for (let at = 0; at < buffer.length; at += pieceBytes) yield buffer.subarray(at, at + pieceBytes);
    },
  };
};
