import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { HEADER_LENGTH, keyIdOf } from './sealed-content.ts';
import type { PlacedContent, SealedPlace } from './sealed-document-store.ts';
import { ifThere, sync, writeDurably } from '../support/durable-files.ts';
import { giveToOwner } from '../support/file-owners.ts';

const ABANDONED_AFTER_MS = 3_600_000;

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
      await mkdir(folder, { recursive: true, mode: 0o700 });
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
    if ((await readKeyId(path)) === keyId) await this.#makeFolder(dirname(path));
    else await this.#store(path, sealed());
    await sync(dirname(path));
  }

  async open(name: string, keyId: string): Promise<PlacedContent | undefined> {
    const file = await ifThere(open(join(this.#root, name), 'r'));
    if (file === undefined) return undefined;
    try {
      const { size } = await file.stat();
      if (keyIdOf(await bytesOf(file, 0, HEADER_LENGTH)) === keyId)
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
    await rm(path, { force: true });
    await ifThere(sync(dirname(path)));
  }

  /** Synced even when the folder exists: the process that made it may not have synced it yet. */
  async #makeFolder(folder: string): Promise<void> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    giveToOwner(folder);
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
    return keyIdOf(await bytesOf(file, 0, HEADER_LENGTH));
  } finally {
    await file.close();
  }
};
