import { randomUUID } from 'node:crypto';
import { open, readdir, rename, rm, rmdir, stat } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { HEADER_BYTES, keyIdOf } from './sealed-content.ts';
import type { PlacedContent, SealedPlace } from './sealed-document-store.ts';
import {
  giveToOwner,
  hasCode,
  ifThere,
  makeDirectory,
  sync,
  writeDurably,
} from '../support/durable-files.ts';

const ABANDONED_AFTER_MS = 3_600_000;
const MOST_TRIES = 10;

/** Files of a directory. Each is written under a name of its own and renamed when it is complete and on disk. */
export class FilePlace implements SealedPlace {
  readonly #root: string;
  readonly #incoming: string;

  /** @param dataDir DATA_DIR; everything stays in its folder `documents` */
  constructor(dataDir: string) {
    this.#root = join(dataDir, 'documents');
    this.#incoming = join(this.#root, '.incoming');
  }

  /** Makes the folders, and removes files that a crash left half written; files that another process is writing are younger. */
  async start(): Promise<void> {
    for (const folder of [this.#root, this.#incoming]) {
      await makeDirectory(folder);
      giveToOwner(folder);
    }
    for (const name of await readdir(this.#incoming)) {
      const path = join(this.#incoming, name);
      const modified = (await stat(path).catch(() => undefined))?.mtimeMs ?? Infinity;
      if (modified < Date.now() - ABANDONED_AFTER_MS) await rm(path, { force: true });
    }
  }

  async put(name: string, keyId: string, sealed: () => AsyncIterable<Buffer>): Promise<void> {
    const path = join(this.#root, name);
    const folder = dirname(path);
    // In a new folder nothing lies: nearly every content is the first one of its operation.
    const isNew = await this.#makeFolder(folder);
    if (isNew || (await readKeyId(path)) !== keyId) await this.#store(path, sealed());
    // Where the folder has gone, all that lay in it was removed meanwhile. Whoever made it may not have synced the root yet.
    await Promise.all([ifThere(sync(folder)), sync(this.#root)]);
  }

  async open(name: string, keyId: string): Promise<PlacedContent | undefined> {
    const file = await ifThere(open(join(this.#root, name), 'r'));
    if (file === undefined) return undefined;
    try {
      const { size } = await file.stat();
      if (keyIdOf(await bytesOf(file, 0, HEADER_BYTES)) === keyId)
        return { size, read: (start, end) => bytesOf(file, start, end), close: () => file.close() };
    } catch (error) {
      await file.close();
      throw error;
    }
    await file.close();
    return undefined;
  }

  async remove(name: string): Promise<void> {
    const path = join(this.#root, name);
    const folder = dirname(path);
    await rm(path, { force: true });
    const isThere = await ifThere(sync(folder).then(() => true));
    // The last one takes its folder along; with anything in it a folder cannot be removed.
    if (isThere) await rmdir(folder).catch(() => undefined);
    else await ifThere(sync(this.#root));
  }

  /** True where it was not there. */
  async #makeFolder(folder: string): Promise<boolean> {
    const made = await makeDirectory(folder);
    // It may be gone again.
    await ifThere((async () => giveToOwner(folder))());
    return made;
  }

  async #store(path: string, content: AsyncIterable<Buffer>): Promise<void> {
    const draft = join(this.#incoming, randomUUID());
    try {
      await writeDurably(draft, content);
      await this.#name(draft, path);
    } catch (error) {
      await rm(draft, { force: true });
      throw error;
    }
  }

  /** Whoever removes the last file of a folder takes it along, also just before the next one gets its name there. */
  async #name(draft: string, path: string): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await rename(draft, path);
      } catch (error) {
        if (tries === MOST_TRIES || !hasCode(error, 'ENOENT')) throw error;
      }
      await this.#makeFolder(dirname(path));
    }
  }
}

/** Fewer bytes than asked for where the file ends. */
const bytesOf = async (file: FileHandle, start: number, end: number): Promise<Buffer> => {
  const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(end - start), 0, end - start, start);
  return buffer.subarray(0, bytesRead);
};

const readKeyId = async (path: string): Promise<string | undefined> => {
  const file = await ifThere(open(path, 'r'));
  if (file === undefined) return undefined;
  try {
    return keyIdOf(await bytesOf(file, 0, HEADER_BYTES));
  } finally {
    await file.close();
  }
};
