import { join } from 'node:path';
import type { Container } from 'inversify';
import { secretContext } from '../../application/ports/webhook-subscriptions.ts';
import type { KeyServices } from '../cli/cli-services.ts';
import { CommandFailedError, NotAllowedError, WrongUseError } from '../cli/command-line.ts';
import { DirectoryInUseError, lockFile } from '../embedded/directory-lock.ts';
import type { DirectoryLock } from '../embedded/directory-lock.ts';
import { MasterKeyRotation, RotationRefusedError, rotatedKeys } from '../security/master-key-rotation.ts';
import type { RotationResult } from '../security/master-key-rotation.ts';
import { dropPreviousKey, renewKeyFile } from '../security/master-key.ts';
import { UnknownSigningKeyError } from '../security/token-signing-keys.ts';
import { SqlWebhookSecrets } from '../sql/webhooks/subscriptions.ts';
import { TOKENS } from './tokens.ts';

const ROTATING_FILE = 'rotating.db';

const NOT_BESIDE_EARLIER =
  'processes of release 2026.11.1 may still run, and they know one master key only; when none does, run `receivables upgrade finish` first';

const rotationOf = (container: Container): MasterKeyRotation => {
  const store = container.get(TOKENS.keyStore);
  const secrets = {
    texts: new SqlWebhookSecrets(container.get(TOKENS.serviceDatabase)),
    purposeOf: () => 'webhook-secrets' as const,
    contextOf: secretContext,
  };
  return new MasterKeyRotation(store, container.get(TOKENS.keys).masterKeys, [rotatedKeys(store), secrets]);
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
const rotateFile = async (container: Container, dataDir: string): Promise<RotationResult> => {
  const lock = lockRotation(dataDir);
  try {
    await renewKeyFile(dataDir);
    container.get(TOKENS.keys).masterKeys.reload();
    const result = await rotationOf(container).execute();
    await dropPreviousKey(dataDir);
    return result;
  } finally {
    await lock.close();
  }
};

/** What the command line needs to change keys. */
export const keyServices = (container: Container): KeyServices => {
  const signingKeys = container.get(TOKENS.signingKeys);
  const { masterKey, dataDir } = container.get(TOKENS.configuration);
  return {
    rotate: () => signingKeys.rotate(),
    revoke: async (kid) => {
      try {
        return await signingKeys.revoke(kid);
      } catch (error) {
        throw error instanceof UnknownSigningKeyError ? new NotAllowedError(error.message) : error;
      }
    },
    rotateMaster: async () => {
      if (await container.get(TOKENS.storedFormats).forEarlierRelease())
        throw new NotAllowedError(NOT_BESIDE_EARLIER);
      try {
        return await (masterKey ? rotationOf(container).execute() : rotateFile(container, dataDir));
      } catch (error) {
        throw error instanceof RotationRefusedError ? new WrongUseError(error.message) : error;
      }
    },
  };
};
