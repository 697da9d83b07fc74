import type { Logger } from '../../application/ports/logger.ts';
import { checkMasterKey } from '../security/master-key-check.ts';
import { masterKeyFromFile } from '../security/master-key-file.ts';
import { SqlKeyStore } from '../sql/key-store.ts';
import type { Configuration } from './configuration.ts';
import type { Foundations } from './container.ts';
import { openEngines } from './engines.ts';
import { impatient } from './patience.ts';
import type { Patience } from './patience.ts';
import { SystemClock } from './system-clock.ts';

/** Opens everything that the container is built on. @throws ConfigurationError, WrongMasterKeyError, or what a store says */
export const openFoundations = async (
  configuration: Configuration,
  logger: Logger,
  patience: Patience = impatient,
): Promise<Foundations> => {
  const clock = new SystemClock();
  const engines = await openEngines({ configuration, clock, logger, patience });
  try {
    const masterKey = configuration.masterKey ?? (await masterKeyFromFile(configuration.dataDir));
    const keys = new SqlKeyStore(engines.serviceDatabase, clock);
    await patience.until('service_store', () => checkMasterKey(keys, masterKey));
    return { configuration, engines, masterKey, clock, logger };
  } catch (error) {
    await engines.close();
    throw error;
  }
};
