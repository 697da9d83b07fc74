import type { BusinessClock, RealClock } from '../../application/ports/clock.ts';
import type { KeyStore } from '../../application/ports/key-store.ts';
import type { Logger } from '../../application/ports/logger.ts';
import { MovableClock } from '../../application/sandbox/sandbox-clock.ts';
import { keyringFromFiles, masterKeyFromFile } from '../security/master-key.ts';
import type { Keyring } from '../security/master-key.ts';
import { MasterKeys } from '../security/master-keys.ts';
import { DATA_KEYS, WrappedKeys, dataKey } from '../security/wrapped-keys.ts';
import { SqlClockOffset } from '../sql/coordination.ts';
import { SqlKeyStore } from '../sql/key-store.ts';
import { NO_STANDBY, losesAtFailover, standbySettings } from '../sql/postgres-safety.ts';
import { SqlStoredFormats } from '../sql/stored-formats.ts';
import { SystemClock } from '../support/time.ts';
import type { Configuration } from './configuration.ts';
import type { RowOptions } from './engine-rows.ts';
import { openEngines } from './engines.ts';
import type { Engines } from './engines.ts';
import { UNOBSERVED } from './observability.ts';
import type { Observability } from './observability.ts';
import { noRetry } from './start-retry.ts';
import type { StartRetry } from './start-retry.ts';

/** What is chosen at the start; everything else is built from it. */
export interface Foundations {
  readonly configuration: Configuration;
  readonly engines: Engines;
  readonly keys: ServiceKeys;
  readonly clock: BusinessClock;
  readonly realClock: RealClock;
  /** The business clock where it can be moved: in a sandbox. */
  readonly movableClock?: MovableClock;
  readonly logger: Logger;
  readonly observability: Observability;
  /** Wakes the sender of deliveries that a request has queued; default: the one of this thread. */
  readonly onQueued?: (webhookIds: readonly string[]) => void;
}

/** Keys of the service, as long as it runs. */
export interface ServiceKeys {
  readonly masterKeys: MasterKeys;
  readonly fingerprints: Buffer;
}

export interface FoundationOptions extends Pick<RowOptions, 'part' | 'writer' | 'createWorker'> {
  readonly retry?: StartRetry;
}

/** An embedded engine has one process, which is this one. Shared ones may have processes of the release before, and only their operator knows. */
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

/** Only in production: elsewhere a server of its own without any standby is what one expects. */
const warnOfFailover = async (
  { environment, databaseFailover }: Configuration,
  { serviceDatabase }: Engines,
  logger: Logger,
): Promise<void> => {
  if (environment !== 'production' || databaseFailover === 'managed') return;
  const settings = await standbySettings(serviceDatabase);
  if (settings && losesAtFailover(settings)) logger.warn({ ...settings }, NO_STANDBY);
};

/** Reads the master keys: from the variables, or in a sandbox without them from the files. */
const keyringOf = async ({
  masterKey,
  previousMasterKey,
  dataDir,
}: Configuration): Promise<() => Keyring> => {
  if (masterKey) return () => ({ current: masterKey, previous: previousMasterKey });
  await masterKeyFromFile(dataDir);
  return () => keyringFromFiles(dataDir);
};

/** @throws WrongMasterKeyError */
const openKeys = async (store: KeyStore, load: () => Keyring): Promise<ServiceKeys> => {
  const masterKeys = await MasterKeys.open(store, load);
  const dataKeys = new WrappedKeys(store, masterKeys, 'data-keys');
  return { masterKeys, fingerprints: await dataKey(dataKeys, DATA_KEYS.fingerprints) };
};

/** Opens everything that the container is built on. @throws ConfigurationError, WrongMasterKeyError, or what a store says */
export const openFoundations = async (
  configuration: Configuration,
  logger: Logger,
  options: FoundationOptions = {},
): Promise<Foundations> => {
  const realClock = new SystemClock();
  const { retry = noRetry } = options;
  const engines = await openEngines({ ...options, configuration, clock: realClock, logger, retry });
  try {
    const keyring = await keyringOf(configuration);
    const store = new SqlKeyStore(engines.serviceDatabase, realClock);
    const keys = await retry.until('service_store', () => openKeys(store, keyring));
    if (options.part === 'service') {
      const formats = new SqlStoredFormats(engines.serviceDatabase);
      await retry.until('service_store', () => chooseFormats(formats, configuration, logger));
      await retry.until('service_store', () => warnOfFailover(configuration, engines, logger));
    }
    const clock = new MovableClock(Date.now);
    const observability = UNOBSERVED;
    const foundations = { configuration, engines, keys, clock, realClock, logger, observability };
    if (configuration.environment === 'production') return foundations;
    const offset = new SqlClockOffset(engines.serviceDatabase, realClock);
    clock.moveTo(await retry.until('service_store', () => offset.read()));
    return { ...foundations, movableClock: clock };
  } catch (error) {
    await engines.close();
    throw error;
  }
};
