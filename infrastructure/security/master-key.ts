import { createSecretKey, hkdfSync, randomBytes, randomUUID } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { link, mkdir, readFile, rename, rm, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode, ifThere, sync, writeDurably } from '../support/durable-files.ts';

const BYTES = 32;
const BASE64_OF_32_BYTES = /^[A-Za-z0-9+/]{43}=$/;

/** The one secret outside the database. It never seals anything itself: each purpose has a sub-key of its own (HKDF-SHA256). */
export class MasterKey {
  readonly #key: KeyObject;
  /** 16 hexadecimal digits that name the key without revealing it. */
  readonly id: string;

  private constructor(key: KeyObject) {
    this.#key = key;
    this.id = this.derive('key-id').toString('hex').slice(0, 16);
  }

  static generate(): { key: MasterKey; base64: string } {
    const bytes = randomBytes(BYTES);
    return { key: new MasterKey(createSecretKey(bytes)), base64: bytes.toString('base64') };
  }

  /** @param base64 standard alphabet, with padding; `undefined` unless it is exactly 32 bytes */
  static parse(base64: string): MasterKey | undefined {
    if (!BASE64_OF_32_BYTES.test(base64)) return undefined;
    return new MasterKey(createSecretKey(Buffer.from(base64, 'base64')));
  }

  /** The master key as another thread of this process takes it over. */
  static of(handle: KeyObject): MasterKey {
    return new MasterKey(handle);
  }

  /** A handle for another thread, which does not show the key. */
  handle(): KeyObject {
    return this.#key;
  }

  /** 32 bytes, always the same for the same purpose. */
  derive(purpose: string): Buffer {
    return Buffer.from(hkdfSync('sha256', this.#key, '', `receivables-fund-service/${purpose}`, BYTES));
  }
}

/** What this process was given: the master key, and the one before it while a rotation is under way. */
export interface Keyring {
  /** Where the current key comes from, for messages; default: MASTER_KEY. */
  readonly source?: string;
  readonly current: MasterKey;
  readonly previous?: MasterKey | undefined;
}

const FILE_NAME = 'master.key';
/** Exists while a rotation is under way. */
const PREVIOUS_NAME = 'master.key.previous';
const NEXT_NAME = 'master.key.next';

/** The file that keeps the master key does not hold one that can be used; the message names it and says what to do. */
export class MasterKeyFileError extends Error {
  override readonly name = 'MasterKeyFileError';
}

const PUT_BACK =
  'put it back from where you keep it or from a backup with the key, or set MASTER_KEY; without it nothing that is sealed can be read';

/**
 * The sandbox's master key, kept in a file of the data directory that only its owner can read. When two processes start at once, both
 * get the same key.
 * @param isUsed answers whether something was wrapped with it before: then a new one would open nothing, so only a first start makes it
 * @throws MasterKeyFileError
 */
export const masterKeyFromFile = async (
  dataDir: string,
  isUsed: () => Promise<boolean>,
): Promise<MasterKey> => {
  const path = join(dataDir, FILE_NAME);
  const text = await ifThere(readFile(path, 'utf8'));
  if (text === undefined && (await isUsed())) throw new MasterKeyFileError(`${path} is missing: ${PUT_BACK}`);
  return parsed(path, text ?? (await create(dataDir, path)));
};

export const keyringFromFiles = (dataDir: string): Keyring => {
  const read = (name: string): MasterKey =>
    parsed(join(dataDir, name), readFileSync(join(dataDir, name), 'utf8'));
  // `renewKeyFile` gives the old key its second name before it puts the new one in its place: read in this order, the old key is found.
  let previous: MasterKey | undefined;
  const current = read(FILE_NAME);
  try {
    previous = read(PREVIOUS_NAME);
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
  }
  return { source: join(dataDir, FILE_NAME), current, previous };
};

/**
 * Replaces the key in the file; the old key stays beside it until `dropPreviousKey`. An interrupted call is finished by the next one.
 * Only one process may call this at a time.
 */
export const renewKeyFile = async (dataDir: string): Promise<void> => {
  const [path, previous, next] = [FILE_NAME, PREVIOUS_NAME, NEXT_NAME].map((name) => join(dataDir, name)) as [
    string,
    string,
    string,
  ];
  const { current, previous: before } = keyringFromFiles(dataDir);
  if (before !== undefined && before.id !== current.id) return;
  // A draft of an interrupted call was never used.
  await rm(next, { force: true });
  await writeDurably(next, `${MasterKey.generate().base64}\n`);
  await link(path, previous).catch((error: unknown) => {
    if (!hasCode(error, 'EEXIST')) throw error;
  });
  await sync(dataDir);
  await rename(next, path);
  await sync(dataDir);
};

/** To be called when nothing is wrapped with it any more. */
export const dropPreviousKey = async (dataDir: string): Promise<void> => {
  await rm(join(dataDir, PREVIOUS_NAME), { force: true });
  await sync(dataDir);
};

const parsed = (path: string, text: string): MasterKey => {
  const key = MasterKey.parse(text.trim());
  if (key !== undefined) return key;
  const found = text.trim() === '' ? 'is empty' : 'does not hold a master key (32 bytes in base64)';
  throw new MasterKeyFileError(`${path} ${found}: ${PUT_BACK}`);
};

/** A hard link appears with its whole content or not at all, and only one process can make it. */
const create = async (dataDir: string, path: string): Promise<string> => {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const draft = `${path}.${randomUUID()}`;
  await writeDurably(draft, `${MasterKey.generate().base64}\n`);
  try {
    await link(draft, path);
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  } finally {
    await unlink(draft);
  }
  await sync(dataDir);
  return readFile(path, 'utf8');
};
