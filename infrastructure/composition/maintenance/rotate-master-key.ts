import { join } from 'node:path';
import { sessionTokens, tokensContext } from '../../../application/desk/sessions.ts';
import type { RotationResult } from '../../../application/maintenance/master-key-rotation.ts';
import { secretContext, webhookSecrets } from '../../../application/webhooks/subscriptions.ts';
import { lockFile } from '../../embedded/directory-lock.ts';
import { rotateKeys, rotatedKeys } from '../../security/master-key-rotation.ts';
import { dropPreviousKey, renewKeyFile } from '../../security/master-key.ts';
import type { Parts } from '../parts.ts';

const ROTATING_FILE = 'rotating.db';

/** To the key of the variables; a key in the data directory gives way to a new one there, by one command at a time. */
export const rotateMasterKey = async ({
  configuration,
  keyStore,
  keys: { masterKeys },
  serviceDatabase,
}: Parts): Promise<RotationResult> => {
  const secrets = {
    texts: webhookSecrets(serviceDatabase),
    purposeOf: () => 'webhook-secrets' as const,
    contextOf: secretContext,
  };
  const sessions = {
    texts: sessionTokens(serviceDatabase),
    purposeOf: () => 'desk-sessions' as const,
    contextOf: tokensContext,
  };
  const places = [rotatedKeys(keyStore), secrets, sessions];
  const rotate = () => rotateKeys(keyStore, masterKeys, places);
  if (configuration.masterKey) return rotate();
  const { dataDir } = configuration;
  const lock = lockFile(join(dataDir, ROTATING_FILE), 'alone');
  if (!lock) throw new Error(`the master key in ${dataDir} is being rotated already`);
  try {
    await renewKeyFile(dataDir);
    masterKeys.reload();
    const result = await rotate();
    await dropPreviousKey(dataDir);
    return result;
  } finally {
    await lock.close();
  }
};
