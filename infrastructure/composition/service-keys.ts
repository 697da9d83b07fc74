import type { KeyStore } from '../../application/ports/key-store.ts';
import { DATA_KEYS, WrappedKeys, dataKey } from '../security/wrapped-keys.ts';
import { keyringFromFiles, masterKeyFromFile } from '../security/master-key.ts';
import type { Keyring } from '../security/master-key.ts';
import { MasterKeys } from '../security/master-keys.ts';
import type { Configuration } from './configuration.ts';

/** Keys of the service, as long as it runs. */
export interface ServiceKeys {
  readonly masterKeys: MasterKeys;
  readonly fingerprints: Buffer;
}

/** What tells the master keys whenever it is asked: the variables, or in a sandbox without them the files. */
export const keyringOf = async ({
  masterKey,
  previousMasterKey,
  dataDir,
}: Configuration): Promise<() => Keyring> => {
  if (masterKey) return () => ({ current: masterKey, previous: previousMasterKey });
  await masterKeyFromFile(dataDir);
  return () => keyringFromFiles(dataDir);
};

/** @throws WrongMasterKeyError */
export const openKeys = async (store: KeyStore, load: () => Keyring): Promise<ServiceKeys> => {
  const masterKeys = await MasterKeys.open(store, load);
  const dataKeys = new WrappedKeys(store, masterKeys, 'data-keys');
  return { masterKeys, fingerprints: await dataKey(dataKeys, DATA_KEYS.fingerprints) };
};
