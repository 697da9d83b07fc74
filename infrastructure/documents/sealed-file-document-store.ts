import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isNativeError } from 'node:util/types';
import type { DocumentStore, ReceivedFile, StoredContent } from '../../application/ports/document-store.ts';
import {
  HEADER_LENGTH,
  contentLength,
  keyIdOf,
  openSealed,
  seal,
  sealBytes,
  wholeOf,
} from './sealed-content.ts';
import type { ContentIdentity, DocumentKey, DocumentKeys } from './sealed-content.ts';
import { sync, writeDurably } from '../support/durable-files.ts';

const SHA256 = /^[0-9a-f]{64}$/;
const ABANDONED_AFTER_MS = 3_600_000;

/**
 * `documents/<SHA-256 of the stream's name>/<SHA-256 of the content>`, sealed. A file is written under a name of its own and
 * renamed when it is complete and on disk, so that a name of two digests never stands for a part of a document.
 */
export class SealedFileDocumentStore implements DocumentStore {
  readonly #root: string;
  readonly #incoming: string;
  readonly #keys: DocumentKeys;

  /** @param dataDir DATA_DIR; everything stays in its folder `documents` */
  constructor(dataDir: string, keys: DocumentKeys) {
    this.#root = join(dataDir, 'documents');
    this.#incoming = join(this.#root, '.incoming');
    this.#keys = keys;
  }

  /** Makes the folders, and removes files that a crash left half written; files that another process is writing are younger. */
  async start(): Promise<void> {
    await mkdir(this.#incoming, { recursive: true, mode: 0o700 });
    for (const name of await readdir(this.#incoming)) {
      const path = join(this.#incoming, name);
      const modified = (await stat(path).catch(() => undefined))?.mtimeMs ?? Infinity;
      if (modified < Date.now() - ABANDONED_AFTER_MS) await rm(path, { force: true });
    }
  }

  async put(stream: string, file: ReceivedFile): Promise<void> {
    if (!SHA256.test(file.sha256)) throw new TypeError('a document is addressed by a hexadecimal SHA-256');
    const { sha256 } = file;
    await this.#put({ stream, sha256 }, (key) => seal(file.read(), key, { stream, sha256 }));
  }

  async copy(from: string, to: string, sha256: string): Promise<boolean> {
    const content = await this.get(from, sha256);
    if (content === undefined) return false;
    const identity = { stream: to, sha256 };
    await this.#put(identity, (key) => sealBytes(content, key, identity));
    return true;
  }

  async #put(
    { stream, sha256 }: ContentIdentity,
    sealed: (key: DocumentKey) => AsyncIterable<Buffer>,
  ): Promise<void> {
    const key = await this.#keys.key(stream);
    const folder = this.#folderOf(stream);
    const path = join(folder, sha256);
    if ((await readKeyId(path)) === key.id) await this.#makeFolder(folder);
    else await this.#store(path, sealed(key));
    await sync(folder);
  }

  async get(stream: string, sha256: string): Promise<Uint8Array | undefined> {
    return wholeOf(await this.open(stream, sha256));
  }

  async open(stream: string, sha256: string): Promise<StoredContent | undefined> {
    const key = SHA256.test(sha256) ? await this.#keys.find(stream) : undefined;
    if (key === undefined) return undefined;
    const path = join(this.#folderOf(stream), sha256);
    const file = await unlessMissing(open(path, 'r'));
    if (file === undefined) return undefined;
    try {
      const { size } = await file.stat();
      if (keyIdOf(await bytesOf(file, 0, HEADER_LENGTH)) === key.id)
        return {
          size: contentLength(size),
          pieces: closing(file, openedFrom(file, size, key, { stream, sha256 })),
        };
    } catch (error) {
      await file.close();
      throw error;
    }
    await file.close();
    return undefined;
  }

  async remove(stream: string, sha256: string): Promise<void> {
    if (!SHA256.test(sha256)) return;
    const folder = this.#folderOf(stream);
    await rm(join(folder, sha256), { force: true });
    await unlessMissing(sync(folder));
  }

  /** Synced even when the folder exists: the process that made it may not have synced it yet. */
  async #makeFolder(folder: string): Promise<void> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await sync(this.#root);
  }

  async #store(path: string, content: AsyncIterable<Buffer>): Promise<void> {
    const draft = join(this.#incoming, randomUUID());
    const ready = await Promise.allSettled([writeDurably(draft, content), this.#makeFolder(dirname(path))]);
    try {
      for (const result of ready) if (result.status === 'rejected') throw result.reason;
      await rename(draft, path);
    } catch (error) {
      await rm(draft, { force: true });
      throw error;
    }
  }

  #folderOf(stream: string): string {
    return join(this.#root, createHash('sha256').update(stream, 'utf8').digest('hex'));
  }
}

/** Fewer bytes than asked for where the file ends. */
const bytesOf = async (file: FileHandle, start: number, end: number): Promise<Buffer> => {
  const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(end - start), 0, end - start, start);
  return buffer.subarray(0, bytesRead);
};

const openedFrom = (
  file: FileHandle,
  size: number,
  key: DocumentKey,
  identity: ContentIdentity,
): AsyncGenerator<Buffer> =>
  openSealed({ size, read: (start, end) => bytesOf(file, start, end) }, key, identity);

/** Closes the file after the last piece, and also when reading never begins. */
const closing = (file: FileHandle, pieces: AsyncGenerator<Buffer>): AsyncIterableIterator<Buffer> => ({
  [Symbol.asyncIterator]() {
    return this;
  },
  async next() {
    try {
      const step = await pieces.next();
      if (step.done) await file.close();
      return step;
    } catch (error) {
      await file.close();
      throw error;
    }
  },
  async return() {
    await file.close();
    return { done: true, value: undefined };
  },
});

const readKeyId = async (path: string): Promise<string | undefined> => {
  const file = await unlessMissing(open(path, 'r'));
  if (file === undefined) return undefined;
  try {
    return keyIdOf(await bytesOf(file, 0, HEADER_LENGTH));
  } finally {
    await file.close();
  }
};

const unlessMissing = async <Result>(result: Promise<Result>): Promise<Result | undefined> => {
  try {
    return await result;
  } catch (error) {
    if (isNativeError(error) && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
};
