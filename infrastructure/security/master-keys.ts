import type { Condition, KeyStore } from '../../application/ports/key-store.ts';
import type { Keyring, MasterKey } from './master-key.ts';
import { BrokenSealError, AesGcmSealer } from './aes-gcm-sealer.ts';

/** The known text whose wrapping tells which master key these stores are filled with. */
export const MASTER_KEY_CHECK = 'master-key:check';
/** There while a rotation is under way: JSON of `from` and `to`, ids of master keys. */
export const MASTER_KEY_ROTATION = 'master-key:rotation';
const KNOWN_TEXT = 'opened';
/** Keys that were derived from the master key before there were data keys, and the purpose that each was derived for. */
const DERIVED_MAC_KEYS: readonly (readonly [name: string, purpose: string])[] = [
  ['data:fingerprints', 'fingerprints'],
];
/** Id of the master key, then what a sealer made with its sub-key. Until the first rotation texts lack the id. */
const WRAPPED = /^w2\.([0-9a-f]{16})\.(.+)$/;

/** What wraps what: each purpose has a sub-key of its own. Stored in effect, so never changed. */
export type WrappingPurpose = 'operation-keys' | 'signing-keys' | 'webhook-secrets' | 'data-keys';

export class WrongMasterKeyError extends Error {
  override readonly name = 'WrongMasterKeyError';
}

/** The id of the master key that wrapped a text; undefined for one of before there were ids. */
export const wrappingKeyOf = (wrapped: string): string | undefined => WRAPPED.exec(wrapped)?.[1];

export const wrapWith = (key: MasterKey, purpose: string, text: string, context: string): string =>
  `w2.${key.id}.${new AesGcmSealer(key.derive(purpose)).seal(text, context)}`;

const NOT_THESE =
  'MASTER_KEY is not the key that the stored secrets were wrapped with; MASTER_KEY_PREVIOUS is not either, or is not set';

const keysOf = ({ current, previous }: Keyring): readonly MasterKey[] =>
  previous === undefined || previous.id === current.id ? [current] : [current, previous];

/**
 * The master keys of this process, and which of them wraps. That is for the store to say: all processes go on with the old key
 * until `keys rotate-master` turns the store over to the new one, and whatever was wrapped with the old one in that moment is refused.
 * The check also says how: where it lacks the id of its key, as release 2026.11.1 wrote it, every text is wrapped so that that release
 * reads it. The first rotation ends that.
 */
export class MasterKeys {
  readonly #store: KeyStore;
  readonly #load: () => Keyring;
  #ring: Keyring;
  #active: { readonly key: MasterKey; readonly check: string };
  readonly #sealers = new Map<string, AesGcmSealer>();

  private constructor(store: KeyStore, load: () => Keyring, opened: Pick<Opened, 'ring' | 'active'>) {
    this.#store = store;
    this.#load = load;
    this.#ring = opened.ring;
    this.#active = opened.active;
  }

  /**
   * Run before anything is wrapped: with a master key that is not the one these stores were filled with, new secrets would be
   * wrapped with one key and old ones with another.
   * @param load asked again when a text names a key that was not there before
   * @throws WrongMasterKeyError
   */
  static async open(store: KeyStore, load: () => Keyring): Promise<MasterKeys> {
    const ring = load();
    return new MasterKeys(store, load, { ring, active: await openCheck(store, ring) });
  }

  get ring(): Keyring {
    return this.#ring;
  }

  /** Takes the keys that this process is given now. */
  reload(): void {
    this.#ring = this.#load();
  }

  /** Id of the key that wraps. */
  get activeId(): string {
    return this.#active.key.id;
  }

  /** What has to hold while something that was wrapped here is stored. */
  get condition(): Condition {
    return { name: MASTER_KEY_CHECK, wrapped: this.#active.check };
  }

  /** @param context bound to the text: it does not open in another */
  wrap(purpose: WrappingPurpose, text: string, context: string): string {
    const { key, check } = this.#active;
    const sealed = this.#sealer(key, purpose).seal(text, context);
    return wrappingKeyOf(check) === undefined ? sealed : `w2.${key.id}.${sealed}`;
  }

  /** @throws WrongMasterKeyError @throws BrokenSealError */
  unwrap(purpose: WrappingPurpose, wrapped: string, context: string): string {
    const [, id, sealed] = WRAPPED.exec(wrapped) ?? [];
    if (id !== undefined && sealed !== undefined)
      return this.#sealer(this.#keyOf(id), purpose).open(sealed, context);
    return this.#unwrapOld(purpose, wrapped, context);
  }

  /** A text of before there were ids: the oldest key that this process has is the likeliest to have wrapped it. */
  #unwrapOld(purpose: WrappingPurpose, wrapped: string, context: string): string {
    const keys = keysOf(this.#ring).toReversed();
    const sealers = keys.map((key) => this.#sealer(key, purpose));
    const right = sealers.find((sealer) => opens(() => sealer.open(wrapped, context)));
    return (right ?? sealers[0]!).open(wrapped, context);
  }

  /** Looks again which key wraps. @throws WrongMasterKeyError it is none of ours */
  async refresh(): Promise<void> {
    const check = await this.#store.get(MASTER_KEY_CHECK);
    if (check === undefined) throw new WrongMasterKeyError(NOT_THESE);
    const id = wrappingKeyOf(check);
    this.#active = { key: id === undefined ? keyOfCheck(this.#ring, check) : this.#keyOf(id), check };
  }

  #keyOf(id: string): MasterKey {
    const find = (): MasterKey | undefined => keysOf(this.#ring).find((key) => key.id === id);
    const known = find();
    if (known) return known;
    this.reload();
    const added = find();
    if (!added) throw new WrongMasterKeyError(`${NOT_THESE}: the store names key ${id}`);
    return added;
  }

  #sealer(key: MasterKey, purpose: WrappingPurpose): AesGcmSealer {
    const name = `${key.id} ${purpose}`;
    let sealer = this.#sealers.get(name);
    if (!sealer) this.#sealers.set(name, (sealer = new AesGcmSealer(key.derive(purpose))));
    return sealer;
  }
}

interface Opened {
  readonly ring: Keyring;
  readonly active: { readonly key: MasterKey; readonly check: string };
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

/** @throws WrongMasterKeyError none of these keys made it */
const keyOfCheck = (ring: Keyring, check: string): MasterKey => {
  const [, id, sealed = check] = WRAPPED.exec(check) ?? [];
  const key = keysOf(ring).find(
    (one) =>
      (id === undefined || id === one.id) &&
      opens(() => new AesGcmSealer(one.derive(MASTER_KEY_CHECK)).open(sealed, MASTER_KEY_CHECK)),
  );
  if (!key) throw new WrongMasterKeyError(NOT_THESE);
  return key;
};

/** The check of a store whose keys this one wraps, from its first rotation on, or from its beginning. */
export const checkTextOf = (key: MasterKey): string =>
  wrapWith(key, MASTER_KEY_CHECK, KNOWN_TEXT, MASTER_KEY_CHECK);

const earlierCheckTextOf = (key: MasterKey): string =>
  new AesGcmSealer(key.derive(MASTER_KEY_CHECK)).seal(KNOWN_TEXT, MASTER_KEY_CHECK);

const openCheck = async (store: KeyStore, ring: Keyring): Promise<Opened['active']> => {
  const check = (await store.get(MASTER_KEY_CHECK)) ?? (await firstCheck(store, ring));
  const key = keyOfCheck(ring, check);
  if (wrappingKeyOf(check) === undefined) await keepDerivedKeys(store, key);
  await checkUnfinished(store, ring);
  return { key, check };
};

const firstCheck = async (store: KeyStore, { current, previous }: Keyring): Promise<string> => {
  const [first] = await store.page('', 1);
  const oldest = previous ?? current;
  // The first versions kept keys without a check.
  const isOld = first !== undefined && wrappingKeyOf(first.wrapped) === undefined;
  return store.putIfAbsent(MASTER_KEY_CHECK, isOld ? earlierCheckTextOf(oldest) : checkTextOf(current));
};

/** MAC keys were derived from the master key once: they stay what they were, or nothing that they marked would be found again. */
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
