import type { Logger } from '../../application/ports/logger.ts';
import { SqlKeyStore } from '../sql/key-store.ts';
import type { Configuration } from './configuration.ts';
import type { Foundations } from './container.ts';
import { openEngines } from './engines.ts';
import type { RowOptions } from './engine-rows.ts';
import { impatient } from './patience.ts';
import type { Patience } from './patience.ts';
import { keyringOf, openKeys } from './service-keys.ts';
import { SystemClock } from './system-clock.ts';

export interface FoundationOptions extends Pick<RowOptions, 'part' | 'writer' | 'createWorker'> {
  readonly patience?: Patience;
}

/** Opens everything that the container is built on. @throws ConfigurationError, WrongMasterKeyError, or what a store says */
export const openFoundations = async (
  configuration: Configuration,
  logger: Logger,
  options: FoundationOptions = {},
): Promise<Foundations> => {
  const clock = new SystemClock();
  const { patience = impatient } = options;
  const engines = await openEngines({ ...options, configuration, clock, logger, patience });
  try {
    const keyring = await keyringOf(configuration);
    const store = new SqlKeyStore(engines.serviceDatabase, clock);
    const keys = await patience.until('service_store', () => openKeys(store, keyring));
    return { configuration, engines, keys, clock, logger };
  } catch (error) {
    await engines.close();
    throw error;
  }
};
