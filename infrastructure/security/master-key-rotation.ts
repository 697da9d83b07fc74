import { RotationRefusedError } from '../../application/maintenance/master-key-rotation.ts';
import type { RotationResult } from '../../application/maintenance/master-key-rotation.ts';
import type {
  KeyStore,
  Rewrapped,
  WrappedText,
  WrappedTexts,
} from '../../application/coordination/key-store.ts';
import {
  MASTER_KEY_CHECK,
  MASTER_KEY_ROTATION,
  checkTextOf,
  wrapWith,
  wrappingKeyOf,
} from './master-keys.ts';
import type { MasterKeys, WrappingPurpose } from './master-keys.ts';

/** A place with texts that the master key wraps, and the purpose that each was wrapped for. */
interface RotatedTexts {
  readonly texts: WrappedTexts;
  /** Undefined for an entry that is no wrapped text. */
  readonly purposeOf: (name: string) => WrappingPurpose | undefined;
  readonly contextOf: (name: string) => string;
}

const PURPOSES: readonly (readonly [prefix: string, purpose: WrappingPurpose])[] = [
  ['operation:', 'operation-keys'],
  ['token-signing:', 'signing-keys'],
  ['data:', 'data-keys'],
];

const purposeOfKey = (name: string): WrappingPurpose | undefined => {
  if (name === MASTER_KEY_CHECK || name === MASTER_KEY_ROTATION) return undefined;
  const [, purpose] = PURPOSES.find(([prefix]) => name.startsWith(prefix)) ?? [];
  if (purpose === undefined)
    throw new Error(`nothing is known of the key ${name}: it cannot be wrapped anew`);
  return purpose;
};

export const rotatedKeys = (store: KeyStore): RotatedTexts => ({
  texts: store,
  purposeOf: purposeOfKey,
  contextOf: (name) => name,
});

const PAGE = 500;

/**
 * Wraps everything that the old master key wrapped with the new one, while the service runs with both: to the current key of the ring, from
 * the previous one. It can be killed at any point and run again, also by several processes at once: each text names the key that wrapped it,
 * and is replaced by compare-and-set. @throws RotationRefusedError
 */
export const rotateKeys = async (
  store: KeyStore,
  masterKeys: MasterKeys,
  places: readonly RotatedTexts[],
): Promise<RotationResult> => {
  const { from, to } = await begin(store, masterKeys);
  let [rewrapped, already] = [0, 0];
  for (;;) {
    const pass = await rewrapAll(masterKeys, places);
    already = rewrapped === 0 ? pass.already : already;
    rewrapped += pass.rewrapped;
    if (!pass.found) break;
  }
  await store.delete(MASTER_KEY_ROTATION);
  return { from, to, rewrapped, already };
};

/** After this no process wraps with the old key. */
const begin = async (store: KeyStore, masterKeys: MasterKeys) => {
  const { current, previous } = masterKeys.ring;
  if (!previous || previous.id === current.id)
    throw new RotationRefusedError(
      'set MASTER_KEY to the new key and MASTER_KEY_PREVIOUS to the one before it',
    );
  const rotation = { from: previous.id, to: current.id };
  const record = JSON.stringify(rotation);
  if ((await store.putIfAbsent(MASTER_KEY_ROTATION, record)) !== record)
    throw new RotationRefusedError(
      'a rotation between two other keys is not finished: run it again with those',
    );
  await masterKeys.refresh();
  while (masterKeys.activeId !== current.id) {
    const from = masterKeys.condition.wrapped;
    await store.turn({ name: MASTER_KEY_CHECK, from, to: checkTextOf(current) });
    await masterKeys.refresh();
  }
  return rotation;
};

const rewrapAll = async (masterKeys: MasterKeys, places: readonly RotatedTexts[]) => {
  const sum = { found: false, rewrapped: 0, already: 0 };
  for (const place of places) {
    for (let after = ''; ;) {
      const page = await place.texts.page(after, PAGE);
      const last = page.at(-1);
      if (!last) break;
      const changes = page.flatMap((text) => rewrap(masterKeys, place, text));
      sum.found ||= changes.length > 0;
      sum.rewrapped += await place.texts.rewrap(changes);
      sum.already += page.filter(({ name }) => place.purposeOf(name)).length - changes.length;
      after = last.name;
    }
  }
  return sum;
};

const rewrap = (
  masterKeys: MasterKeys,
  { purposeOf, contextOf }: RotatedTexts,
  { name, wrapped }: WrappedText,
): readonly Rewrapped[] => {
  const { current } = masterKeys.ring;
  const purpose = purposeOf(name);
  if (purpose === undefined || wrappingKeyOf(wrapped) === current.id) return [];
  const text = masterKeys.unwrap(purpose, wrapped, contextOf(name));
  return [{ name, from: wrapped, to: wrapWith(current, purpose, text, contextOf(name)) }];
};
