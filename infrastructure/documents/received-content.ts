import type { ByteRange, ReceivedFile } from '../../application/ports/document-store.ts';

/** A content, or a part of it, in memory. */
export const contentOf = async (file: ReceivedFile, range?: ByteRange): Promise<Buffer> => {
  const pieces: Uint8Array[] = [];
  for await (const piece of file.read(range)) pieces.push(piece);
  return Buffer.concat(pieces);
};
