import { join } from 'node:path';
import { secretContext } from '../../../application/ports/webhook-subscriptions.ts';
import type { KeyServices } from '../../cli/cli-services.ts';
import { CommandFailedError, NotAllowedError, WrongUseError } from '../../cli/command-line.ts';
import { DirectoryInUseError, lockFile } from '../../embedded/directory-lock.ts';
import type { DirectoryLock } from '../../embedded/directory-lock.ts';
import { MasterKeyRotation, RotationRefusedError, rotatedKeys } from '../../security/master-key-rotation.ts';
import type { RotationResult } from '../../security/master-key-rotation.ts';
import { dropPreviousKey, renewKeyFile } from '../../security/master-key.ts';
import { TokenSigningKeys, UnknownSigningKeyError } from '../../security/token-signing-keys.ts';
import { WrappedKeys } from '../../security/wrapped-keys.ts';
import { SqlWebhookSecrets } from '../../sql/webhooks/subscriptions.ts';
import type { Foundations } from '../foundations.ts';
import type { Adapters } from './adapters.ts';

const ROTATING_FILE = 'rotating.db';

const NOT_BESIDE_EARLIER =
  'processes of release 2026.11.1 may still run, and they know one master key only; when none does, run `receivables upgrade finish` first';

/** The keys that sign access tokens. */
export const signingKeysOf = (
  { keys, realClock, logger }: Foundations,
  { keyStore }: Adapters,
): TokenSigningKeys => {
  const store = new WrappedKeys(keyStore, keys.masterKeys, 'signing-keys');
  return new TokenSigningKeys({ store, clock: realClock, logger });
};

const rotationOf = ({ engines, keys }: Foundations, { keyStore }: Adapters): MasterKeyRotation => {
  const secrets = {
    texts: new SqlWebhookSecrets(engines.serviceDatabase),
    purposeOf: () => 'webhook-secrets' as const,
    contextOf: secretContext,
  };
  return new MasterKeyRotation(keyStore, keys.masterKeys, [rotatedKeys(keyStore), secrets]);
};

const lockRotation = (dataDir: string): DirectoryLock => {
  try {
    return lockFile(join(dataDir, ROTATING_FILE), 'alone');
  } catch (error) {
    if (!(error instanceof DirectoryInUseError)) throw error;
    throw new CommandFailedError(`the master key in ${dataDir} is being rotated already`, { cause: error });
  }
};

/** The key in the data directory gives way to a new one; one command at a time. */
const rotateFile = async (foundations: Foundations, adapters: Adapters): Promise<RotationResult> => {
  const { dataDir } = foundations.configuration;
  const lock = lockRotation(dataDir);
  try {
    await renewKeyFile(dataDir);
    foundations.keys.masterKeys.reload();
    const result = await rotationOf(foundations, adapters).execute();
    await dropPreviousKey(dataDir);
    return result;
  } finally {
    await lock.close();
  }
};

/** What the command line needs to change keys. */
export const keyServices = (
  foundations: Foundations,
  adapters: Adapters,
  signingKeys: TokenSigningKeys,
): KeyServices => ({
  rotate: () => signingKeys.rotate(),
  revoke: async (kid) => {
    try {
      return await signingKeys.revoke(kid);
    } catch (error) {
      throw error instanceof UnknownSigningKeyError ? new NotAllowedError(error.message) : error;
    }
  },
  rotateMaster: async () => {
    if (await adapters.formats.forEarlierRelease()) throw new NotAllowedError(NOT_BESIDE_EARLIER);
    try {
      return await (foundations.configuration.masterKey
        ? rotationOf(foundations, adapters).execute()
        : rotateFile(foundations, adapters));
    } catch (error) {
      throw error instanceof RotationRefusedError ? new WrongUseError(error.message) : error;
    }
  },
});
