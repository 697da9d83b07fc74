import type { BusinessClock, RealClock } from '../../application/ports/clock.ts';
import type { KeyStore } from '../../application/coordination/key-store.ts';
import type { Logger } from '../../application/ports/logger.ts';
import { MovableClock } from '../../application/maintenance/sandbox/sandbox-clock.ts';
import { DataKeyAnchorSigner } from '../security/audit-keys.ts';
import { keyringFromFiles, masterKeyFromFile } from '../security/master-key.ts';
import type { Keyring } from '../security/master-key.ts';
import { MasterKeys } from '../security/master-keys.ts';
import { DATA_KEYS, WrappedKeys, dataKey } from '../security/wrapped-keys.ts';
import { SqlClockOffset } from '../../application/maintenance/sandbox/sandbox-clock.ts';
import { SqlKeyStore } from '../../application/coordination/key-store.ts';
import { NO_STANDBY, losesAtFailover, standbySettings } from '../postgres/postgres-safety.ts';
import type { SqlDatabase } from '../../application/sql/sql-database.ts';
import { StoredFormats } from '../../application/event-codec/stored-formats.ts';
import { SystemClock } from '../support/time.ts';
import type { Part } from './cache-shares.ts';
import type { Configuration } from './configuration.ts';
import { openEngines } from './engines.ts';
import type { EngineOptions, Engines } from './engines.ts';
import { UNOBSERVED, openObservability } from './observability.ts';
import type { Observability } from './observability.ts';
import { noRetry, retriesOf } from './start-retry.ts';
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
interface ServiceKeys {
  readonly masterKeys: MasterKeys;
  readonly fingerprints: Buffer;
}

interface FoundationOptions extends Pick<EngineOptions, 'writer'> {
  /** Default: a command. */
  readonly part?: Part;
  readonly retry?: StartRetry;
}

/** An embedded engine has one process, which is this one. Shared ones may have processes of the release before, and only their operator knows. */
const chooseFormats = async (
  formats: StoredFormats,
  { engines }: Configuration,
  logger: Logger,
): Promise<void> => {
  if (!(await formats.forReleaseWithoutDesk())) return;
  if (engines.eventStoreUrl === undefined || engines.databaseUrl === undefined)
    return formats.leaveEarlierRelease();
  logger.warn(
    { command: 'upgrade finish' },
    'everything is stored so that processes of earlier releases can go on beside this one; when none runs any more, run `receivables upgrade finish`',
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
const keyringOf = async (
  { masterKey, previousMasterKey, dataDir }: Configuration,
  store: KeyStore,
): Promise<() => Keyring> => {
  if (masterKey) return () => ({ current: masterKey, previous: previousMasterKey });
  await masterKeyFromFile(dataDir, async () => (await store.page('', 1)).length > 0);
  return () => keyringFromFiles(dataDir);
};

/** @throws WrongMasterKeyError */
const openKeys = async (store: KeyStore, load: () => Keyring, part: Part): Promise<ServiceKeys> => {
  const masterKeys = await MasterKeys.open(store, load);
  const dataKeys = new WrappedKeys(store, masterKeys, 'data-keys');
  // A backup from before the first anchor has to know whose signature that is.
  if (part === 'service') await new DataKeyAnchorSigner(dataKeys).prepare();
  return { masterKeys, fingerprints: await dataKey(dataKeys, DATA_KEYS.fingerprints) };
};

/** Opens everything that the parts are built on. @throws ConfigurationError, WrongMasterKeyError, or what a store says */
export const openFoundations = async (
  configuration: Configuration,
  logger: Logger,
  options: FoundationOptions = {},
): Promise<Foundations> => {
  const realClock = new SystemClock();
  const clock = new MovableClock(Date.now);
  const { retry: patience = noRetry, part = 'command' } = options;
  const observability =
    part === 'command' ? UNOBSERVED : await openObservability(configuration, { clock, logger, part });
  const retry = retriesOf(configuration, patience).ofDatabase;
  const opened: { keys?: ServiceKeys } = {};
  const onServiceDatabase = async (database: SqlDatabase): Promise<void> => {
    const store = new SqlKeyStore(database, realClock);
    const keyring = await retry.until('service_store', () => keyringOf(configuration, store));
    opened.keys = await retry.until('service_store', () => openKeys(store, keyring, part));
  };
  const stores = { ...options, configuration, clock: realClock, logger, retry: patience, observability };
  const engines = await openEngines({ ...stores, part, onServiceDatabase });
  const keys = opened.keys!;
  try {
    if (part === 'service') {
      const formats = new StoredFormats(engines.serviceDatabase);
      await retry.until('service_store', () => chooseFormats(formats, configuration, logger));
      await retry.until('service_store', () => warnOfFailover(configuration, engines, logger));
    }
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
