import { calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK } from 'jose';
import type { CryptoKey, JWK } from 'jose';
import { UnknownSigningKeyError } from '../../application/clients/tokens.ts';
import type { SigningKeys } from '../../application/clients/tokens.ts';
import type { RealClock } from '../../application/ports/clock.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { NamedKeys } from './wrapped-keys.ts';

/** Pinned: a token that names any other algorithm is refused. */
export const ALGORITHM = 'ES256';

interface SigningKey {
  /** Name in the key store; later keys have later names. */
  readonly name: string;
  readonly kid: string;
  /** UNIX milliseconds; before that the key is only published. */
  readonly activeFrom: number;
  readonly privateKey: CryptoKey;
  readonly publicKey: CryptoKey;
  readonly publicJwk: JWK;
}

interface Kept {
  readonly activeFrom: number;
  readonly privateJwk: JWK;
}

const newSigningKey = async (activeFrom: number): Promise<string> => {
  const { privateKey } = await generateKeyPair(ALGORITHM, { extractable: true });
  const kept: Kept = { activeFrom, privateJwk: await exportJWK(privateKey) };
  return JSON.stringify(kept);
};

const readSigningKey = async (name: string, text: string): Promise<SigningKey> => {
  const { activeFrom, privateJwk } = JSON.parse(text) as Kept;
  const { d: _secret, ...publicPart } = privateJwk;
  const kid = await calculateJwkThumbprint(publicPart);
  return {
    name,
    kid,
    activeFrom,
    privateKey: await importKey(privateJwk),
    publicKey: await importKey(publicPart),
    publicJwk: { ...publicPart, kid, use: 'sig', alg: ALGORITHM },
  };
};

const importKey = async (jwk: JWK): Promise<CryptoKey> => {
  const key = await importJWK({ ...jwk, alg: ALGORITHM }, ALGORITHM, { extractable: false });
  if (key instanceof Uint8Array) throw new TypeError('a signing key is an asymmetric key');
  return key;
};

const PREFIX = 'token-signing:';
/** Every process reloads the keys at least this often, so that a revoked one is refused everywhere by then. */
export const REVOKED_EVERYWHERE_AFTER_MS = 5_000;
/** A token with an unknown key causes a reload, but not more often than this. */
const LOOK_FOR_UNKNOWN_AFTER_MS = 1_000;
/** A new key signs only when every process and every reader of the key set had time to learn of it. */
const PUBLISHED_BEFORE_USE_MS = 60_000;
/** The lifetime of a token (1 h) and five minutes for clocks that disagree. */
const KEPT_AFTER_USE_MS = 65 * 60_000;

/**
 * Keys that sign access tokens, wrapped in the key store and shared by all processes. Their names count upwards and are stored with
 * putIfAbsent, so that two processes that make the first key, or rotate at once, end with one and the same key.
 */
export class TokenSigningKeys implements SigningKeys {
  readonly #store: NamedKeys;
  readonly #clock: RealClock;
  readonly #logger: Logger;
  #keys: readonly SigningKey[] = [];
  #loadedAt = -Infinity;
  #loading: Promise<void> | undefined;

  constructor(deps: { store: NamedKeys; clock: RealClock; logger: Logger }) {
    this.#store = deps.store;
    this.#clock = deps.clock;
    this.#logger = deps.logger;
  }

  async active(): Promise<SigningKey> {
    await this.#refresh(REVOKED_EVERYWHERE_AFTER_MS);
    const now = this.#now();
    const key = this.#keys.findLast((candidate) => candidate.activeFrom <= now) ?? this.#keys[0];
    if (key === undefined) throw new Error('the key store holds no signing key');
    return key;
  }

  async find(kid: string): Promise<SigningKey | undefined> {
    await this.#refresh(REVOKED_EVERYWHERE_AFTER_MS);
    const known = this.#keys.find((key) => key.kid === kid);
    if (known !== undefined) return known;
    await this.#refresh(LOOK_FOR_UNKNOWN_AFTER_MS);
    return this.#keys.find((key) => key.kid === kid);
  }

  /** Every key whose tokens may still be alive, and the one that will sign next. */
  async published(): Promise<readonly SigningKey[]> {
    await this.#refresh(REVOKED_EVERYWHERE_AFTER_MS);
    return this.#keys;
  }

  /** Publishes a new key, which starts to sign a minute later; tokens signed by the old one stay good until they expire. */
  async rotate(): ReturnType<SigningKeys['rotate']> {
    await this.#load();
    const { kid, activeFrom } = await this.#add(this.#now() + PUBLISHED_BEFORE_USE_MS);
    await this.#load();
    return { kid, activeFrom };
  }

  /**
   * Ends a key that was stolen: its tokens are refused here at once, and by every other process within REVOKED_EVERYWHERE_AFTER_MS.
   * If it was the signing key or the newest one, a new key takes over at once.
   * @throws UnknownSigningKeyError
   */
  async revoke(kid: string): ReturnType<SigningKeys['revoke']> {
    await this.#load();
    const revoked = this.#keys.find((key) => key.kid === kid);
    if (!revoked)
      throw new UnknownSigningKeyError(`no signing key has the id ${kid}: it was revoked, or retired`);
    const signing = await this.active();
    const replaced = revoked === signing || revoked === this.#keys.at(-1);
    // The successor is stored first, so that there is always a key, and names go on counting.
    const successor = replaced ? await this.#add(this.#now()) : signing;
    await this.#store.delete(revoked.name);
    await this.#load();
    return { kid, successor: successor.kid };
  }

  #add(activeFrom: number): Promise<SigningKey> {
    const last = this.#keys.at(-1);
    return this.#putFirst(last === undefined ? nameOf(1) : nameOf(numberOf(last.name) + 1), activeFrom);
  }

  async #putFirst(name: string, activeFrom: number): Promise<SigningKey> {
    return readSigningKey(name, await this.#store.putIfAbsent(name, await newSigningKey(activeFrom)));
  }

  async #refresh(olderThanMs: number): Promise<void> {
    if (Math.abs(this.#now() - this.#loadedAt) < olderThanMs) return;
    this.#loading ??= this.#load().finally(() => (this.#loading = undefined));
    try {
      await this.#loading;
    } catch (error) {
      if (this.#keys.length === 0) throw error;
      // Known keys go on working while the store cannot be reached.
      this.#loadedAt = this.#now();
      this.#logger.warn({ err: error }, 'signing keys could not be reloaded');
    }
  }

  async #load(): Promise<void> {
    const stored = [...(await this.#store.list(PREFIX))].sort((a, b) => numberOf(a.name) - numberOf(b.name));
    const known = new Map(this.#keys.map((key) => [key.name, key]));
    const keys: SigningKey[] = [];
    for (const { name, wrapped } of stored) {
      keys.push(known.get(name) ?? (await readSigningKey(name, this.#store.unwrap(name, wrapped))));
    }
    if (keys.length === 0) keys.push(await this.#putFirst(nameOf(1), this.#now()));
    this.#keys = await this.#withoutRetired(keys);
    this.#loadedAt = this.#now();
  }

  /** The newest key is never deleted, so the count never starts again. */
  async #withoutRetired(keys: readonly SigningKey[]): Promise<readonly SigningKey[]> {
    const retired = keys.filter((_, index) => {
      const successor = keys[index + 1];
      return successor !== undefined && successor.activeFrom + KEPT_AFTER_USE_MS < this.#now();
    });
    await Promise.all(retired.map((key) => this.#store.delete(key.name)));
    return keys.filter((key) => !retired.includes(key));
  }

  #now(): number {
    return Date.parse(this.#clock.realNow());
  }
}

const nameOf = (number: number): string => `${PREFIX}${String(number).padStart(9, '0')}`;
const numberOf = (name: string): number => Number(name.slice(PREFIX.length));
