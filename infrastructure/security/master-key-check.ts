import type { KeyStore } from '../../application/ports/key-store.ts';
import type { MasterKey } from './master-key.ts';
import { BrokenSealError, Sealer } from './sealer.ts';

const NAME = 'master-key:check';
const KNOWN_TEXT = 'opened';

export class WrongMasterKeyError extends Error {
  override readonly name = 'WrongMasterKeyError';
}

/**
 * Run before anything is sealed: with a master key that is not the one these stores were filled with, new secrets would be
 * sealed with one key and old ones with another. @throws WrongMasterKeyError
 */
export const checkMasterKey = async (store: KeyStore, masterKey: MasterKey): Promise<void> => {
  const sealer = new Sealer(masterKey.derive(NAME));
  const kept = await store.putIfAbsent(NAME, sealer.seal(KNOWN_TEXT, NAME));
  try {
    sealer.open(kept, NAME);
  } catch (error) {
    if (!(error instanceof BrokenSealError)) throw error;
    throw new WrongMasterKeyError('MASTER_KEY is not the key that the stored secrets were sealed with');
  }
};
