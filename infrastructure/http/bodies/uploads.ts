import { createCipheriv, createDecipheriv, createHash, randomBytes, randomUUID } from 'node:crypto';
import type { Cipheriv, Decipheriv } from 'node:crypto';
import { open, unlink, readdir, rm, stat, writeFile } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { ByteRange, ReceivedFile } from '../../../application/ports/document-store.ts';
import { MIB } from '../../../application/support/sized-cache.ts';
import { BoundedBuffer, tooLarge } from './read-body.ts';
import type { Slot, SlotBounds } from '../limits/slots.ts';
import { giveToOwner, makeDirectory, naming } from '../../support/durable-files.ts';
import { tooManyUnderWay, unavailable } from '../errors/http-problem.ts';
import { Slots } from '../limits/slots.ts';

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
  /** Aborted, with a refusal, when the service stops. */
  readonly stopping: AbortSignal;
  readonly #directory: string;
  readonly #slot: Slot;
  readonly #paths: string[] = [];
  readonly #sources = new Set<Readable>();
  readonly #writes: Promise<unknown>[] = [];
  readonly #reading = new Set<Promise<FileHandle>>();
  #bytes = 0;
  #discarded: Promise<void> | undefined;

  constructor(directory: string, slot: Slot, stopping: AbortSignal) {
    this.stopping = stopping;
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

const MINUTE_MS = 60_000;
/**
 * A process marks its folder every minute; one that has not done so for this long has ended or hangs. Nothing else tells: containers that
 * share a volume, and often a host name, all have a process 1.
 */
const SILENCE_MS = 5 * MINUTE_MS;
const MARK = 'owner';

/** Weight is bytes on disk, in files of requests under way; who waits is not read meanwhile. */
export const UPLOAD_BOUNDS: SlotBounds = {
  application: { places: 64, weight: 512 * MIB },
  process: { places: 512, weight: 4096 * MIB },
  waiting: 128,
  waitMs: 10_000,
  leastWeight: 4 * MIB,
  mostWeight: 50 * MIB,
  refused: () => tooManyUnderWay('uploads'),
};

const STOPPING =
  'The service stops, and the form had not come whole; nothing was done, send the same request again.';
const RETRY_AFTER_S = 5;

interface Arrival {
  readonly applicationId: string;
  /** Undefined when the client does not say. */
  readonly declaredBytes: number | undefined;
  /** Answers the signal of a client that has gone; asked where the upload has to wait. */
  readonly gone: () => AbortSignal;
}

const modifiedAt = async (path: string): Promise<number> => (await stat(path)).mtimeMs;

/**
 * Where uploads wait, sealed, while their request is handled. Each process has a folder of its own under the root, which
 * several hosts may share, and removes the folders of processes that are gone.
 */
export class UploadArea {
  readonly #root: string;
  readonly #directory: string;
  readonly #slots = new Slots(UPLOAD_BOUNDS);
  readonly #stop = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #sweeping: Promise<void> = Promise.resolve();

  private constructor(root: string) {
    this.#root = root;
    this.#directory = join(root, randomUUID());
  }

  /** Makes a folder for this process; removes abandoned folders at once and then every minute. @throws Error when it cannot be made */
  static async open(root: string, sweepEveryMs = MINUTE_MS): Promise<UploadArea> {
    const area = new UploadArea(root);
    await area.#markFolder();
    await area.#sweep();
    area.#timer = setInterval(() => {
      area.#sweeping = area.#sweeping
        .then(() => area.#markFolder())
        .then(() => area.#sweep())
        .catch(ignore);
    }, sweepEveryMs).unref();
    return area;
  }

  /** @throws HttpProblem `rate_limited` when too much is under way @throws ClientGoneError */
  async session({ applicationId, declaredBytes, gone }: Arrival): Promise<UploadSession> {
    const slot = await this.#slots.enter(applicationId, declaredBytes, gone);
    return new UploadSession(this.#directory, slot, this.#stop.signal);
  }

  /** Refuses what waits for its turn, and from now on what would; and what has not come whole. */
  endWaiting(): void {
    this.#slots.end();
    this.#stop.abort(unavailable(STOPPING, RETRY_AFTER_S));
  }

  /** Never fails: what cannot be removed now is removed by another process, or at the next start. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#sweeping;
    await rm(this.#directory, { recursive: true, force: true }).catch(ignore);
  }

  /** Shows that this process lives; makes the folder again if it was removed. */
  async #markFolder(): Promise<void> {
    await makeDirectory(this.#directory);
    giveToOwner(this.#root);
    giveToOwner(this.#directory);
    const path = join(this.#directory, MARK);
    await naming(path, writeFile(path, MARK, { mode: 0o600 }));
  }

  /** Compares times of the file system that holds the folders only, so that the clocks of hosts need not agree. */
  async #sweep(): Promise<void> {
    const now = await modifiedAt(join(this.#directory, MARK));
    for (const name of await readdir(this.#root)) {
      const path = join(this.#root, name);
      if (path === this.#directory) continue;
      await sweepFolder(path, now).catch(ignore);
    }
  }
}

const ignore = (): void => undefined;

const sweepFolder = async (path: string, now: number): Promise<void> => {
  const marked = await modifiedAt(join(path, MARK)).catch(() => modifiedAt(path));
  if (marked < now - SILENCE_MS) await rm(path, { recursive: true, force: true });
};
