import { mkdir, open, readdir, rm, stat, unlink } from 'node:fs/promises';
import { createHash, randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';

export interface StoredUpload {
  readonly path: string;
  readonly size: number;
  readonly sha256: string;
}

const DAY_MS = 86_400_000;

/** Files of one request. They exist until `discard`, which also stops what is still being written. */
export class UploadSession {
  readonly #directory: string;
  readonly #paths: string[] = [];
  readonly #sources: Readable[] = [];
  readonly #writes: Promise<unknown>[] = [];

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Writes a stream to a file of its own, hashing on the way; memory holds one chunk at a time. */
  store(source: Readable): Promise<StoredUpload> {
    const path = join(this.#directory, randomUUID());
    this.#paths.push(path);
    this.#sources.push(source);
    const write = writeHashed(source, path);
    this.#writes.push(write);
    return write;
  }

  /** Never fails: what cannot be removed now is removed at the next start. */
  async discard(): Promise<void> {
    for (const source of this.#sources) source.destroy();
    await Promise.allSettled(this.#writes);
    await Promise.allSettled(this.#paths.map((path) => unlink(path)));
  }
}

const writeHashed = async (source: Readable, path: string): Promise<StoredUpload> => {
  const hash = createHash('sha256');
  let size = 0;
  const file = await open(path, 'wx', 0o600);
  try {
    for await (const chunk of source as AsyncIterable<Buffer>) {
      hash.update(chunk);
      size += chunk.length;
      await file.appendFile(chunk);
    }
  } finally {
    await file.close();
  }
  return { path, size, sha256: hash.digest('hex') };
};

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};

/** A folder that its process left behind: it is gone, or runs on another host that has been silent for a day. */
const isAbandoned = async (root: string, name: string): Promise<boolean> => {
  const [, host, pid] = /^(.+)-(\d+)$/.exec(name) ?? [];
  if (host === hostname()) return Number(pid) === process.pid || !isAlive(Number(pid));
  return Date.now() - (await stat(join(root, name))).mtimeMs > DAY_MS;
};

/** Where uploads wait while their request is handled. */
export class UploadArea {
  readonly #directory: string;

  private constructor(directory: string) {
    this.#directory = directory;
  }

  /** Makes a folder for this process under `root`, and empties those of processes that are gone. */
  static async open(root: string): Promise<UploadArea> {
    await mkdir(root, { recursive: true, mode: 0o700 });
    for (const name of await readdir(root)) {
      if (await isAbandoned(root, name)) await rm(join(root, name), { recursive: true, force: true });
    }
    const directory = join(root, `${hostname()}-${process.pid}`);
    await mkdir(directory, { recursive: true, mode: 0o700 });
    return new UploadArea(directory);
  }

  session(): UploadSession {
    return new UploadSession(this.#directory);
  }

  async close(): Promise<void> {
    await rm(this.#directory, { recursive: true, force: true });
  }
}
