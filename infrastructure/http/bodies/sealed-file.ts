import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { Cipheriv, Decipheriv } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import type { ByteRange } from '../../../application/ports/document-store.ts';

/**
 * Counter mode, because a content is also read from its middle. What is authentic is decided by the SHA-256 that was taken
 * before sealing; the cipher only keeps the disk from knowing the content.
 */
const CIPHER = 'aes-256-ctr';
const BLOCK_BYTES = 16;
const KEY_BYTES = 32;
const CHUNK_BYTES = 256 * 1024;

/** A key for one file. It is never stored: without the process that made it, the file on disk is noise. */
export const newFileKey = (): Buffer => randomBytes(KEY_BYTES);

/** The counter of the block in which this byte lies. A key is used for one file, so that counters may start at 0. */
const counterAt = (offset: number): Buffer => {
  const counter = Buffer.alloc(BLOCK_BYTES);
  counter.writeBigUInt64BE(BigInt(Math.floor(offset / BLOCK_BYTES)), BLOCK_BYTES - 8);
  return counter;
};

export const sealerOf = (key: Buffer): Cipheriv => createCipheriv(CIPHER, key, counterAt(0));

const openerAt = (key: Buffer, offset: number): Decipheriv => {
  const opener = createDecipheriv(CIPHER, key, counterAt(offset));
  opener.update(Buffer.alloc(offset % BLOCK_BYTES));
  return opener;
};

/** What stands there in the clear, piece by piece. */
export const readSealed = async function* (
  file: FileHandle,
  key: Buffer,
  { start, end }: ByteRange,
): AsyncGenerator<Buffer> {
  const opener = openerAt(key, start);
  for (let at = start; at < end;) {
    const length = Math.min(CHUNK_BYTES, end - at);
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(length), 0, length, at);
    if (bytesRead === 0) return;
    at += bytesRead;
    yield opener.update(buffer.subarray(0, bytesRead));
  }
};
