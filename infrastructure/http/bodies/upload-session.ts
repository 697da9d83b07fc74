import { createHash, randomUUID } from 'node:crypto';
import { open, unlink } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { ByteRange, ReceivedFile } from '../../../application/ports/document-store.ts';
import { tooLarge } from './read-body.ts';
import { newFileKey, readSealed, sealerOf } from './sealed-file.ts';
import type { UploadSlot } from './upload-slots.ts';

/** A file was read after its request had ended. */
export class UploadGoneError extends Error {
  override readonly name = 'UploadGoneError';
}

/**
 * The files of one request and the only owner of what is open on them. They exist until `discard`, which first stops what
 * writes, closes what reads, and only then removes: whatever was left behind at work fails as a promise does, and alone.
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

  /** Of all its files, as far as they have come. */
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

  /** Never fails: what cannot be removed now is removed by a later sweep. */
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
