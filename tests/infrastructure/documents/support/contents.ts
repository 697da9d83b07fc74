import type { Content } from '../../../../infrastructure/documents/pdf-process.ts';

/** A content that arrives in pieces of so many bytes. */
export const content = (bytes: Uint8Array | string, pieceBytes = 65_536): Content => {
  const buffer = Buffer.from(bytes);
  return {
    size: buffer.length,
    read: async function* () {
      for (let at = 0; at < buffer.length; at += pieceBytes) yield buffer.subarray(at, at + pieceBytes);
    },
  };
};
