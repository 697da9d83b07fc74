import type { Logger } from '../../application/ports/logger.ts';
import { MovableClock } from '../../application/sandbox/movable-clock.ts';
import { SqlClockOffset } from '../sql/clock-offset.ts';
import { SqlStoredFormats } from '../sql/stored-formats.ts';
import { SqlKeyStore } from '../sql/key-store.ts';
import type { Configuration } from './configuration.ts';
import type { Foundations } from './container.ts';
import { openEngines } from './engines.ts';
import type { RowOptions } from './engine-rows.ts';
import { impatient } from './patience.ts';
import type { Patience } from './patience.ts';
import { keyringOf, openKeys } from './service-keys.ts';
import { SystemClock } from '../support/system-clock.ts';

export interface FoundationOptions extends Pick<RowOptions, 'part' | 'writer' | 'createWorker'> {
  readonly patience?: Patience;
}

/** An embedded engine has one process, which is this one. Shared ones may have processes of the release before, and only people know. */
const chooseFormats = async (
  formats: SqlStoredFormats,
  { engines }: Configuration,
  logger: Logger,
): Promise<void> => {
  if (!(await formats.forEarlierRelease())) return;
  if (engines.eventStoreUrl === undefined || engines.databaseUrl === undefined)
    return formats.leaveEarlierRelease();
  logger.warn(
    { command: 'upgrade finish' },
    'everything is stored so that processes of release 2026.11.1 can go on beside this one; when none runs any more, run `receivables upgrade finish`',
  );
};

/** Opens everything that the container is built on. @throws ConfigurationError, WrongMasterKeyError, or what a store says */
export const openFoundations = async (
  configuration: Configuration,
  logger: Logger,
  options: FoundationOptions = {},
): Promise<Foundations> => {
  const realClock = new SystemClock();
  const { patience = impatient } = options;
  const engines = await openEngines({ ...options, configuration, clock: realClock, logger, patience });
  try {
    const keyring = await keyringOf(configuration);
    const store = new SqlKeyStore(engines.serviceDatabase, realClock);
    const keys = await patience.until('service_store', () => openKeys(store, keyring));
    if (options.part === 'service') {
      const formats = new SqlStoredFormats(engines.serviceDatabase);
      await patience.until('service_store', () => chooseFormats(formats, configuration, logger));
    }
    const clock = new MovableClock(Date.now);
    const foundations = { configuration, engines, keys, clock, realClock, logger };
    if (configuration.environment === 'production') return foundations;
    const offset = new SqlClockOffset(engines.serviceDatabase, realClock);
    clock.moveTo(await patience.until('service_store', () => offset.read()));
    return { ...foundations, movableClock: clock };
  } catch (error) {
    await engines.close();
    throw error;
  }
};
