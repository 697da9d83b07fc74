import { createHmac, randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import type { StoredFormats } from '../../application/event-codec/stored-formats.ts';
import { LRUCache } from 'lru-cache';
import { BusyError } from '../../application/ports/busy-error.ts';
import type { Client, ClientRegistry, ClientWithSecret } from '../../application/clients/client-registry.ts';
import type { ClientAuthenticator } from '../../application/clients/tokens.ts';

const SALT_BYTES = 16;
const HASH_BYTES = 32;
const HMAC = /^\$hmac-sha256\$([\w-]+)\$([\w-]+)$/;
const SCRYPT = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([\w-]+)\$([\w-]+)$/;

const mac = (secret: string, salt: Buffer): Buffer => createHmac('sha256', salt).update(secret).digest();

/**
 * `$hmac-sha256$salt$hash`, salt and hash in base64url. A fast hash is enough: a secret is 256 random bits, too many to search, and
 * a slow hash would only let wrong secrets use up the processor.
 */
export const hashSecret = (secret: string): string => {
  const salt = randomBytes(SALT_BYTES);
  return `$hmac-sha256$${salt.toString('base64url')}$${mac(secret, salt).toString('base64url')}`;
};

/** A hash that no secret matches, for unknown ids: comparing with it takes as long as with any other. */
export const unmatchableHash = (): string => {
  const random = (bytes: number): string => randomBytes(bytes).toString('base64url');
  return `$hmac-sha256$${random(SALT_BYTES)}$${random(HASH_BYTES)}`;
};

/** Made by an earlier release, which derived hashes with scrypt: some 50 ms of a processor for each comparison. */
export const isCostlyHash = (hash: string): boolean => SCRYPT.test(hash);

/** `$scrypt$ln=14,r=8,p=1$salt$hash`, the only format that release 2026.11.1 reads. */
const costlyHash = async (secret: string): Promise<string> => {
  const salt = randomBytes(SALT_BYTES);
  const hash = await derive(secret, salt, { logN: 14, r: 8, p: 1 });
  return `$scrypt$ln=14,r=8,p=1$${salt.toString('base64url')}$${hash.toString('base64url')}`;
};

/** In constant time. @throws Error when `hash` is not one that `hashSecret` makes */
export const secretMatches = (secret: string, hash: string): boolean => {
  const [, salt, expected] = HMAC.exec(hash) ?? [];
  if (salt === undefined || expected === undefined) throw unknownFormat();
  return isSame(mac(secret, Buffer.from(salt, 'base64url')), Buffer.from(expected, 'base64url'));
};

/** As `secretMatches`, for a costly hash; in libuv's pool, never on the main thread. */
export const costlySecretMatches = async (secret: string, hash: string): Promise<boolean> => {
  const [, logN, r, p, salt, expected] = SCRYPT.exec(hash) ?? [];
  if (salt === undefined || expected === undefined) throw unknownFormat();
  const cost = { logN: Number(logN), r: Number(r), p: Number(p) };
  return isSame(
    await derive(secret, Buffer.from(salt, 'base64url'), cost),
    Buffer.from(expected, 'base64url'),
  );
};

const isSame = (actual: Buffer, expected: Buffer): boolean =>
  actual.length === expected.length && timingSafeEqual(actual, expected);

const unknownFormat = (): Error => new Error('a stored secret hash is not in a known format');

interface Cost {
  /** Binary logarithm of scrypt's N. */
  readonly logN: number;
  readonly r: number;
  readonly p: number;
}

const derive = (secret: string, salt: Buffer, { logN, r, p }: Cost): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const N = 2 ** logN;
    scrypt(secret, salt, HASH_BYTES, { N, r, p, maxmem: 256 * N * r }, (error, hash) =>
      error === null ? resolve(hash) : reject(error),
    );
  });

/** An id has 128 random bits, a secret 256. The prefixes let scanners of leaked secrets recognise them. */
export const issueCredentials = async (formats: Pick<StoredFormats, 'forEarlierRelease'>) => {
  const clientSecret = `rfs_${randomBytes(32).toString('base64url')}`;
  const clientId = `client_${randomBytes(16).toString('base64url')}`;
  const isEarlier = await formats.forEarlierRelease();
  const secretHash = isEarlier ? await costlyHash(clientSecret) : hashSecret(clientSecret);
  return { clientId, clientSecret, secretHash };
};

/** Runs at most `running` tasks at once; at most `waiting` more queue, first come first served. */
export class ConcurrencyLimit {
  readonly #running: number;
  readonly #waiting: number;
  readonly #queue: (() => void)[] = [];
  #active = 0;

  constructor(running: number, waiting: number) {
    this.#running = running;
    this.#waiting = waiting;
  }

  /** @throws BusyError when the queue is full */
  async run<Result>(task: () => Promise<Result>): Promise<Result> {
    await this.#enter();
    try {
      return await task();
    } finally {
      this.#leave();
    }
  }

  async #enter(): Promise<void> {
    if (this.#active < this.#running) {
      this.#active += 1;
      return;
    }
    if (this.#queue.length >= this.#waiting) throw new BusyError('too many are waiting already');
    await new Promise<void>((resolve) => this.#queue.push(resolve));
  }

  /** The place goes to the next in the queue without being freed, so that a new call cannot overtake the queue. */
  #leave(): void {
    const next = this.#queue.shift();
    if (next === undefined) this.#active -= 1;
    else next();
  }
}

const LONGEST_SECRET = 1024;
/** Each takes one of libuv's threads, which files and DNS need, too. */
const COSTLY_AT_ONCE = 1;
/** About five seconds of work. */
const COSTLY_WAITING = 100;
const COSTLY_WAITING_FOR_ONE_ID = 10;
const IDS = 1_000;

/**
 * Compares secrets with stored hashes. The costly hashes of earlier releases are compared one after another, and each client id has
 * at most one comparison in that queue, so wrong secrets for one id delay no other client. Clients with a current hash never wait.
 * The first right secret replaces a costly hash, once no process of those releases runs any more.
 */
export class HashedClientAuthenticator implements ClientAuthenticator {
  readonly #registry: ClientRegistry;
  readonly #formats: Pick<StoredFormats, 'forEarlierRelease'>;
  readonly #unmatchable = unmatchableHash();
  readonly #costly: ConcurrencyLimit;
  readonly #costlyOfId = new LRUCache<string, ConcurrencyLimit>({ max: IDS });

  constructor(
    registry: ClientRegistry,
    formats: Pick<StoredFormats, 'forEarlierRelease'>,
    costly = new ConcurrencyLimit(COSTLY_AT_ONCE, COSTLY_WAITING),
  ) {
    this.#registry = registry;
    this.#formats = formats;
    this.#costly = costly;
  }

  /** @throws BusyError when too many secrets wait to be compared with costly hashes */
  async authenticate(clientId: string, secret: string): Promise<Client | undefined> {
    const client = await this.#registry.find(clientId);
    const attempt = secret.slice(0, LONGEST_SECRET);
    const matches = await this.#matches(clientId, attempt, client?.secretHash ?? this.#unmatchable);
    if (!matches || client === undefined || client.revokedAt !== null) return undefined;
    return attempt === secret ? withoutSecret(client) : undefined;
  }

  async #matches(clientId: string, secret: string, hash: string): Promise<boolean> {
    if (!isCostlyHash(hash)) return secretMatches(secret, hash);
    const matches = await this.#turnOf(clientId).run(() =>
      this.#costly.run(() => costlySecretMatches(secret, hash)),
    );
    // If this fails, the next right secret replaces the hash.
    if (matches && !(await this.#formats.forEarlierRelease())) {
      await this.#registry.replaceSecretHash(clientId, hash, hashSecret(secret)).catch(() => false);
    }
    return matches;
  }

  #turnOf(clientId: string): ConcurrencyLimit {
    const known = this.#costlyOfId.get(clientId) ?? new ConcurrencyLimit(1, COSTLY_WAITING_FOR_ONE_ID);
    this.#costlyOfId.set(clientId, known);
    return known;
  }
}

const withoutSecret = ({ secretHash: _, ...client }: ClientWithSecret): Client => client;
