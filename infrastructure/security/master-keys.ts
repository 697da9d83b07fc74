import type { KeyStore, WrappedText } from '../../application/coordination/key-store.ts';
import type { Keyring, MasterKey } from './master-key.ts';
import { BrokenSealError } from '../../application/ports/borrower-vault.ts';
import { openText, sealText } from './aes-gcm.ts';

/** The known text whose wrapping tells which master key these stores are filled with. */
export const MASTER_KEY_CHECK = 'master-key:check';
/** Stored while a rotation is under way: JSON of `from` and `to`, ids of master keys. */
export const MASTER_KEY_ROTATION = 'master-key:rotation';
const KNOWN_TEXT = 'opened';
/** Keys that were derived from the master key before there were data keys, and the purpose that each was derived for. */
const DERIVED_MAC_KEYS: readonly (readonly [name: string, purpose: string])[] = [
  ['data:fingerprints', 'fingerprints'],
];
/** Id of the master key, then the sealed text. Until the first rotation texts lack the id. */
const WRAPPED = /^w2\.([0-9a-f]{16})\.(.+)$/;

/** Each purpose has a sub-key of its own. Stored texts depend on these names, so they never change. */
export type WrappingPurpose =
  'operation-keys' | 'signing-keys' | 'webhook-secrets' | 'data-keys' | 'desk-sessions';

export class WrongMasterKeyError extends Error {
  override readonly name = 'WrongMasterKeyError';
}

/** The id of the master key that wrapped a text; undefined for a text from before ids existed. */
export const wrappingKeyOf = (wrapped: string): string | undefined => WRAPPED.exec(wrapped)?.[1];

export const wrapWith = (key: MasterKey, purpose: string, text: string, context: string): string =>
  `w2.${key.id}.${sealText(key.derive(purpose), text, context)}`;

const notThese = ({ source }: Keyring): string =>
  source === undefined
    ? 'MASTER_KEY is not the key that the stored secrets were wrapped with; MASTER_KEY_PREVIOUS is not either, or is not set'
    : `${source} is not the key that the stored secrets were wrapped with: put that one back, or set MASTER_KEY`;

const keysOf = ({ current, previous }: Keyring): readonly MasterKey[] =>
  previous === undefined || previous.id === current.id ? [current] : [current, previous];

/**
 * The master keys of this process, and which of them wraps. The store decides that: all processes go on with the old key until
 * `keys rotate-master` turns the store over to the new one, and texts wrapped with the old one from that moment on are not stored.
 * The check also decides the format: while it lacks the id of its key, as release 2026.11.1 wrote it, texts are wrapped in the format
 * that that release reads. The first rotation ends this.
 */
export class MasterKeys {
  readonly #store: KeyStore;
  readonly #load: () => Keyring;
  #ring: Keyring;
  #active: ActiveKey;
  readonly #subKeys = new Map<string, Buffer>();

  private constructor(store: KeyStore, load: () => Keyring, ring: Keyring, active: ActiveKey) {
    this.#store = store;
    this.#load = load;
    this.#ring = ring;
    this.#active = active;
  }

  /**
   * To be called before anything is wrapped: with another master key than the stores were filled with, new secrets would be wrapped
   * with one key and old ones with another.
   * @param load called again when a text names an unknown key
   * @throws WrongMasterKeyError
   */
  static async open(store: KeyStore, load: () => Keyring): Promise<MasterKeys> {
    const ring = load();
    return new MasterKeys(store, load, ring, await openCheck(store, ring));
  }

  get ring(): Keyring {
    return this.#ring;
  }

  reload(): void {
    this.#ring = this.#load();
  }

  get activeId(): string {
    return this.#active.key.id;
  }

  /** Must hold in the store in the moment in which a text that was wrapped here is stored. */
  get condition(): WrappedText {
    return { name: MASTER_KEY_CHECK, wrapped: this.#active.check };
  }

  /** @param context bound to the text: it does not open in another */
  wrap(purpose: WrappingPurpose, text: string, context: string): string {
    const { key, check } = this.#active;
    const sealed = sealText(this.#subKey(key, purpose), text, context);
    return wrappingKeyOf(check) === undefined ? sealed : `w2.${key.id}.${sealed}`;
  }

  /** @throws WrongMasterKeyError @throws BrokenSealError */
  unwrap(purpose: WrappingPurpose, wrapped: string, context: string): string {
    const [, id, sealed] = WRAPPED.exec(wrapped) ?? [];
    if (id !== undefined && sealed !== undefined)
      return openText(this.#subKey(this.#keyOf(id), purpose), sealed, context);
    return this.#unwrapOld(purpose, wrapped, context);
  }

  /** A text from before ids existed. The oldest key of this process is tried first. */
  #unwrapOld(purpose: WrappingPurpose, wrapped: string, context: string): string {
    const keys = keysOf(this.#ring)
      .toReversed()
      .map((key) => this.#subKey(key, purpose));
    const right = keys.find((key) => opens(() => openText(key, wrapped, context)));
    return openText(right ?? keys[0]!, wrapped, context);
  }

  /** Reads from the store which key wraps. @throws WrongMasterKeyError this process does not have it */
  async refresh(): Promise<void> {
    const check = await this.#store.get(MASTER_KEY_CHECK);
    if (check === undefined) throw new WrongMasterKeyError(notThese(this.#ring));
    const id = wrappingKeyOf(check);
    this.#active = { key: id === undefined ? keyOfCheck(this.#ring, check) : this.#keyOf(id), check };
  }

  #keyOf(id: string): MasterKey {
    const find = (): MasterKey | undefined => keysOf(this.#ring).find((key) => key.id === id);
    const known = find();
    if (known) return known;
    this.reload();
    const added = find();
    if (!added) throw new WrongMasterKeyError(`${notThese(this.#ring)}: the store names key ${id}`);
    return added;
  }

  #subKey(key: MasterKey, purpose: WrappingPurpose): Buffer {
    const name = `${key.id} ${purpose}`;
    let subKey = this.#subKeys.get(name);
    if (!subKey) this.#subKeys.set(name, (subKey = key.derive(purpose)));
    return subKey;
  }
}

interface ActiveKey {
  readonly key: MasterKey;
  readonly check: string;
}

const opens = (open: () => string): boolean => {
  try {
    open();
    return true;
  } catch (error) {
    if (error instanceof BrokenSealError) return false;
    throw error;
  }
};

const keyOfCheck = (ring: Keyring, check: string): MasterKey => {
  const [, id, sealed = check] = WRAPPED.exec(check) ?? [];
  const key = keysOf(ring).find(
    (one) =>
      (id === undefined || id === one.id) &&
      opens(() => openText(one.derive(MASTER_KEY_CHECK), sealed, MASTER_KEY_CHECK)),
  );
  if (!key) throw new WrongMasterKeyError(notThese(ring));
  return key;
};

/** The check in the current format: of a new store, or of one whose master key was rotated. */
export const checkTextOf = (key: MasterKey): string =>
  wrapWith(key, MASTER_KEY_CHECK, KNOWN_TEXT, MASTER_KEY_CHECK);

const earlierCheckTextOf = (key: MasterKey): string =>
  sealText(key.derive(MASTER_KEY_CHECK), KNOWN_TEXT, MASTER_KEY_CHECK);

const openCheck = async (store: KeyStore, ring: Keyring): Promise<ActiveKey> => {
  const check = (await store.get(MASTER_KEY_CHECK)) ?? (await firstCheck(store, ring));
  const key = keyOfCheck(ring, check);
  if (wrappingKeyOf(check) === undefined) await keepDerivedKeys(store, key);
  await checkUnfinished(store, ring);
  return { key, check };
};

const firstCheck = async (store: KeyStore, { current, previous }: Keyring): Promise<string> => {
  const [first] = await store.page('', 1);
  const oldest = previous ?? current;
  // The first versions stored keys without a check.
  const isOld = first !== undefined && wrappingKeyOf(first.wrapped) === undefined;
  return store.putIfAbsent(MASTER_KEY_CHECK, isOld ? earlierCheckTextOf(oldest) : checkTextOf(current));
};

/** Earlier versions derived MAC keys from the master key. They are kept, because stored digests were made with them. */
const keepDerivedKeys = async (store: KeyStore, key: MasterKey): Promise<void> => {
  for (const [name, purpose] of DERIVED_MAC_KEYS) {
    if ((await store.get(name)) !== undefined) continue;
    const text = key.derive(purpose).toString('base64url');
    await store.putIfAbsent(name, wrapWith(key, 'data-keys', text, name));
  }
};

const checkUnfinished = async (store: KeyStore, ring: Keyring): Promise<void> => {
  const record = await store.get(MASTER_KEY_ROTATION);
  if (record === undefined) return;
  const { from, to } = JSON.parse(record) as { readonly from: string; readonly to: string };
  const ids = keysOf(ring).map((key) => key.id);
  if (ids.includes(from) && ids.includes(to)) return;
  throw new WrongMasterKeyError(
    'a rotation of the master key is not finished: set MASTER_KEY to the new key and MASTER_KEY_PREVIOUS to the old one, and run `receivables keys rotate-master`',
  );
};
