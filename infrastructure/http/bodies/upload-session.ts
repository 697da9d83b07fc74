import { createCipheriv, createDecipheriv, createHash, randomBytes, randomUUID } from 'node:crypto';
import type { Cipheriv, Decipheriv } from 'node:crypto';
import { open, unlink } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { ByteRange, ReceivedFile } from '../../../application/ports/document-store.ts';
import { tooLarge } from './read-body.ts';
import type { UploadSlot } from './upload-slots.ts';

/**
 * Counter mode, because a content is also read from its middle. Integrity is checked by the SHA-256 that was taken before sealing;
 * the cipher only keeps the content unreadable on disk.
 */
const CIPHER = 'aes-256-ctr';
const BLOCK_BYTES = 16;
const KEY_BYTES = 32;
const CHUNK_BYTES = 256 * 1024;

/** A key for one file. It is never stored, so the file cannot be read once its process has ended. */
const newFileKey = (): Buffer => randomBytes(KEY_BYTES);

/** The counter of the block in which this byte lies. A key is used for one file, so that counters may start at 0. */
const counterAt = (offset: number): Buffer => {
  const counter = Buffer.alloc(BLOCK_BYTES);
  counter.writeBigUInt64BE(BigInt(Math.floor(offset / BLOCK_BYTES)), BLOCK_BYTES - 8);
  return counter;
};

const sealerOf = (key: Buffer): Cipheriv => createCipheriv(CIPHER, key, counterAt(0));

const openerAt = (key: Buffer, offset: number): Decipheriv => {
  const opener = createDecipheriv(CIPHER, key, counterAt(offset));
  opener.update(Buffer.alloc(offset % BLOCK_BYTES));
  return opener;
};

/** The plain content of the range, piece by piece. */
const readSealed = async function* (
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

/** A file was read after its request had ended. */
export class UploadGoneError extends Error {
  override readonly name = 'UploadGoneError';
}

/**
 * The files of one request, and the owner of every handle on them. They exist until `discard`, which first stops writing, then closes
 * the readers, and only then removes the files. A read that is still under way then fails through its own promise.
 */
export class UploadSession {
  readonly #directory: string;
  readonly #slot: UploadSlot;
  readonly #paths: string[] = [];
  readonly #sources = new Set<Readable>();
  readonly #writes: Promise<unknown>[] = [];
  readonly #reading = new Set<Promise<FileHandle>>();
  #bytes = 0;
  #discarded: Promise<void> | undefined;

  constructor(directory: string, slot: UploadSlot) {
    this.#directory = directory;
    this.#slot = slot;
  }

  /** Bytes of all its files received so far. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Writes a stream to a sealed file of its own, hashing on the way; memory holds one chunk at a time.
   * @throws HttpProblem `payload_too_large`, `rate_limited`
   */
  store(name: string, source: Readable, limit: number): Promise<ReceivedFile> {
    this.#sources.add(source);
    const write = this.#write(name, source, limit);
    this.#writes.push(write);
    return write;
  }

  /** Never fails: files that cannot be removed now are removed by a later sweep. */
  discard(): Promise<void> {
    this.#discarded ??= this.#discard();
    return this.#discarded;
  }

  async #discard(): Promise<void> {
    this.#slot.leave();
    for (const source of this.#sources) source.destroy();
    await Promise.allSettled(this.#writes);
    await Promise.allSettled([...this.#reading].map(async (opening) => (await opening).close()));
    await Promise.allSettled(this.#paths.map((path) => unlink(path)));
  }

  async #write(name: string, source: Readable, limit: number): Promise<ReceivedFile> {
    this.#requirePresent();
    const path = join(this.#directory, randomUUID());
    const key = newFileKey();
    const sealer = sealerOf(key);
    const hash = createHash('sha256');
    let size = 0;
    this.#paths.push(path);
    const file = await open(path, 'wx', 0o600);
    try {
      for await (const chunk of source as AsyncIterable<Buffer>) {
        size += chunk.length;
        if (size > limit) throw tooLarge(`the file ${JSON.stringify(name.slice(0, 255))}`, limit);
        await this.#account(chunk.length);
        hash.update(chunk);
        await file.appendFile(sealer.update(chunk));
      }
    } finally {
      this.#sources.delete(source);
      await file.close();
    }
    const read = (range: ByteRange = { start: 0, end: size }): AsyncIterable<Uint8Array> =>
      this.#read(path, key, { start: range.start, end: Math.min(range.end, size) });
    return { name, size, sha256: hash.digest('hex'), read };
  }

  async *#read(path: string, key: Buffer, range: ByteRange): AsyncGenerator<Buffer> {
    this.#requirePresent();
    const opening = open(path, 'r');
    this.#reading.add(opening);
    try {
      const file = await opening;
      try {
        yield* readSealed(file, key, range);
      } finally {
        await file.close();
      }
    } finally {
      this.#reading.delete(opening);
    }
  }

  async #account(bytes: number): Promise<void> {
    this.#bytes += bytes;
    await this.#slot.cover(this.#bytes);
  }

  #requirePresent(): void {
    if (this.#discarded !== undefined) throw new UploadGoneError('the request that sent this file has ended');
  }
}
