import { createCipheriv, createDecipheriv, createHash, randomBytes, randomUUID } from 'node:crypto';
import type { Cipheriv, Decipheriv } from 'node:crypto';
import { open, unlink } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { ByteRange, ReceivedFile } from '../../../application/ports/document-store.ts';
import { BoundedBuffer, tooLarge } from './read-body.ts';
import type { Slot } from '../limits/slots.ts';

/**
 * Counter mode, because a content is also read from its middle. Integrity is checked by the SHA-256 that was taken before sealing;
 * the cipher only keeps the content unreadable on disk.
 */
const CIPHER = 'aes-256-ctr';
const BLOCK_BYTES = 16;
const KEY_BYTES = 32;
const CHUNK_BYTES = 256 * 1024;
/** What all files of one request may hold of memory; what comes after lies on disk. As many requests as may be at once hold 32 MiB. */
const IN_MEMORY_BYTES = 64 * 1024;

/** The counter of the block in which this byte lies. A key is used for one file, so that counters may start at 0. */
const counterAt = (offset: number): Buffer => {
  const counter = Buffer.alloc(BLOCK_BYTES);
  counter.writeBigUInt64BE(BigInt(Math.floor(offset / BLOCK_BYTES)), BLOCK_BYTES - 8);
  return counter;
};

const openerAt = (key: Buffer, offset: number): Decipheriv => {
  const opener = createDecipheriv(CIPHER, key, counterAt(offset));
  opener.update(Buffer.alloc(offset % BLOCK_BYTES));
  return opener;
};

/** A content on disk. Its key is never stored, so the file cannot be read once its process has ended. */
class SealedFile {
  readonly path: string;
  readonly #key = randomBytes(KEY_BYTES);
  readonly #sealer: Cipheriv = createCipheriv(CIPHER, this.#key, counterAt(0));

  constructor(path: string) {
    this.path = path;
  }

  append(file: FileHandle, chunk: Buffer): Promise<void> {
    return file.appendFile(this.#sealer.update(chunk));
  }

  async *read(file: FileHandle, { start, end }: ByteRange): AsyncGenerator<Buffer> {
    const opener = openerAt(this.#key, start);
    for (let at = start; at < end;) {
      const length = Math.min(CHUNK_BYTES, end - at);
      const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(length), 0, length, at);
      if (bytesRead === 0) return;
      at += bytesRead;
      yield opener.update(buffer.subarray(0, bytesRead));
    }
  }
}

type Place = Pick<ReceivedFile, 'name' | 'field'>;

class UploadGoneError extends Error {
  override readonly name = 'UploadGoneError';
}

/**
 * The files of one request, and the owner of every handle on them. They exist until `discard`, which first stops writing, then closes
 * the readers, and only then removes the files. A read that is still under way then fails through its own promise.
 */
export class UploadSession {
  readonly #directory: string;
  readonly #slot: Slot;
  readonly #paths: string[] = [];
  readonly #sources = new Set<Readable>();
  readonly #writes: Promise<unknown>[] = [];
  readonly #reading = new Set<Promise<FileHandle>>();
  #bytes = 0;
  #discarded: Promise<void> | undefined;

  constructor(directory: string, slot: Slot) {
    this.#directory = directory;
    this.#slot = slot;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Takes a stream in, hashing on the way: what is small into memory, the rest into a sealed file of its own, one chunk after the other.
   * @throws HttpProblem `payload_too_large`, `rate_limited`
   */
  store(file: Place, source: Readable, limit: number): Promise<ReceivedFile> {
    this.#sources.add(source);
    const write = this.#write(file, source, limit);
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

  async #write({ name, field }: Place, source: Readable, limit: number): Promise<ReceivedFile> {
    this.#requirePresent();
    const hash = createHash('sha256');
    const small = new BoundedBuffer(IN_MEMORY_BYTES);
    let large: SealedFile | undefined;
    let file: FileHandle | undefined;
    let size = 0;
    try {
      // A source that this would destroy fails for its owner, before the refusal is known to it.
      const chunks: AsyncIterable<Buffer> = source.iterator({ destroyOnReturn: false });
      for await (const chunk of chunks) {
        size += chunk.length;
        if (size > limit) throw tooLarge(field, `the file ${JSON.stringify(name.slice(0, 255))}`, limit);
        await this.#account(chunk.length);
        hash.update(chunk);
        if (large === undefined && this.#bytes <= IN_MEMORY_BYTES && small.add(chunk)) continue;
        if (large === undefined) {
          large = new SealedFile(join(this.#directory, randomUUID()));
          this.#paths.push(large.path);
          file = await open(large.path, 'wx', 0o600);
          await large.append(file, small.content());
        }
        await large.append(file!, chunk);
      }
    } finally {
      this.#sources.delete(source);
      await file?.close();
    }
    const content = large ?? small.content();
    const read = (range: ByteRange = { start: 0, end: size }): AsyncIterable<Uint8Array> =>
      this.#read(content, { start: range.start, end: Math.min(range.end, size) });
    return { name, field, size, sha256: hash.digest('hex'), read };
  }

  async *#read(content: Buffer | SealedFile, range: ByteRange): AsyncGenerator<Buffer> {
    this.#requirePresent();
    if (!(content instanceof SealedFile)) {
      yield content.subarray(range.start, range.end);
      return;
    }
    const opening = open(content.path, 'r');
    this.#reading.add(opening);
    try {
      const file = await opening;
      try {
        yield* content.read(file, range);
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
