import { closeSync, openSync, readSync, readdirSync } from 'node:fs';
import { endianness } from 'node:os';
import { join } from 'node:path';

/** Of the header of a WAL index (sqlite.org/walformat.html#walidxfmt): the last frame, and a salt that rises by one when the log begins anew. */
const HEADER_BYTES = 48;
const LAST_FRAME = 16;
const SALT = 32;
const LOOK_EVERY_MS = 5;

interface Look {
  readonly frames: number;
  readonly salt: number;
}

const lookAt = (path: string): Look | undefined => {
  const header = Buffer.alloc(HEADER_BYTES);
  try {
    const file = openSync(path, 'r');
    readSync(file, header, 0, HEADER_BYTES, 0);
    closeSync(file);
  } catch {
    return undefined;
  }
  const number = (at: number): number =>
    endianness() === 'LE' ? header.readUInt32LE(at) : header.readUInt32BE(at);
  // The salt is kept in the order in which it stands in the log, which is big-endian.
  return { frames: number(LAST_FRAME), salt: header.readUInt32BE(SALT) };
};

/** Counts the pages that a running service appends to the write-ahead logs of its databases, by file, while it is watched. */
export class AppendedPages {
  readonly #dataDir: string;
  readonly #seen = new Map<string, Look>();
  readonly #pages = new Map<string, number>();
  readonly #timer: NodeJS.Timeout;

  constructor(dataDir: string) {
    this.#dataDir = dataDir;
    this.#look();
    this.#pages.clear();
    this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS);
  }

  /** Name of the database and pages; what was appended between the last look at a log and its new beginning is missing. */
  stop(): ReadonlyMap<string, number> {
    clearInterval(this.#timer);
    this.#look();
    return this.#pages;
  }

  #look(): void {
    for (const name of readdirSync(this.#dataDir)) {
      if (!name.endsWith('.db-shm')) continue;
      const now = lookAt(join(this.#dataDir, name));
      if (!now) continue;
      const before = this.#seen.get(name);
      this.#seen.set(name, now);
      const more = before?.salt === now.salt ? now.frames - before.frames : now.frames;
      const database = name.replace(/\.db-shm$/, '');
      this.#pages.set(database, (this.#pages.get(database) ?? 0) + Math.max(0, more));
    }
  }
}
