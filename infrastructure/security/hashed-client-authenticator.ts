import { LRUCache } from 'lru-cache';
import { BusyError } from '../../application/ports/busy-error.ts';
import type { Client, ClientRegistry, ClientWithSecret } from '../../application/clients/client-registry.ts';
import type { ClientAuthenticator } from '../../application/clients/tokens.ts';
import type { StoredFormats } from '../../application/event-codec/stored-formats.ts';
import {
  costlySecretMatches,
  unmatchableHash,
  hashSecret,
  isCostlyHash,
  secretMatches,
} from './client-secrets.ts';

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
