import { SqlKeyStore } from '../../application/coordination/key-store.ts';
import type { KeyStore } from '../../application/coordination/key-store.ts';
import { StoredFormats } from '../../application/event-codec/stored-formats.ts';
import { Generations } from '../../application/maintenance/rebuild/generations.ts';
import { MovableClock, SqlClockOffset } from '../../application/maintenance/sandbox/sandbox-clock.ts';
import type { BusinessClock, RealClock } from '../../application/ports/clock.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { LogFit } from '../../application/processors/log-fit.ts';
import { isUntouched, migrate } from '../../application/sql/migrations/migrate.ts';
import { serviceMigrations } from '../../application/sql/migrations/service.ts';
import type { SqlDatabase } from '../../application/sql/sql-database.ts';
import type { KafkaEventBus } from '../kafka/kafka-event-bus.ts';
import type { TracedEvents } from '../observability/tracing/tracer.ts';
import { NO_STANDBY, losesAtFailover, standbySettings } from '../postgres/postgres-safety.ts';
import { DataKeyAnchorSigner } from '../security/audit-keys.ts';
import { keyringFromFiles, masterKeyFromFile } from '../security/master-key.ts';
import type { Keyring } from '../security/master-key.ts';
import { MasterKeys } from '../security/master-keys.ts';
import { DATA_KEYS, WrappedKeys, dataKey } from '../security/wrapped-keys.ts';
import type { AppendWriter } from '../sqlite/event-log/event-log-threads.ts';
import { SqliteEventStore } from '../sqlite/event-log/sqlite-event-store.ts';
import { makeDirectory } from '../support/durable-files.ts';
import { opening } from '../support/opening.ts';
import { SystemClock } from '../support/time.ts';
import type { Part } from './cache-shares.ts';
import type { Configuration } from './configuration.ts';
import { ensureMovedWhole, useDataDirectory } from './data-directory.ts';
import { ensureUsable, refuseMissingPart, troubleWith } from './data-parts.ts';
import {
  generationTables,
  kafkaOf,
  keepsFiles,
  openEventBus,
  openEventStore,
  openServiceDatabase,
} from './engines.ts';
import { ConfigurationError } from './environment-reader.ts';
import { hasNoKeys, isUnwrittenFile, logFitOf, refuseEmptyDatabase, refuseOlderLog } from './log-fit.ts';
import { UNOBSERVED, openObservability, tracedEventsOf } from './observability.ts';
import type { Observability } from './observability.ts';
import { projectionsOn, openServing } from './read-models.ts';
import { noRetry, retriesOf } from './start-retry.ts';
import type { StartRetry } from './start-retry.ts';

/** What is chosen and opened at the start; everything else is built from it. Each engine is embedded or one of its own. */
export interface Foundations {
  readonly configuration: Configuration;
  readonly keyStore: SqlKeyStore;
  readonly keys: ServiceKeys;
  readonly formats: StoredFormats;
  readonly clock: BusinessClock;
  readonly realClock: RealClock;
  /** The business clock where it can be moved: in a sandbox. */
  readonly movableClock?: MovableClock;
  readonly logger: Logger;
  readonly observability: Observability;
  /** Wakes the sender of deliveries that a request has queued; default: the one of this thread. */
  readonly onQueued?: (webhookIds: readonly string[]) => void;
  readonly eventStore: Awaited<ReturnType<typeof openEventStore>>;
  /** The same where it is embedded. */
  readonly embeddedLog?: SqliteEventStore;
  readonly logFit: LogFit;
  readonly kafka: ReturnType<typeof kafkaOf>;
  readonly eventBus: KafkaEventBus | undefined;
  readonly serviceDatabase: SqlDatabase;
  /** UNIX milliseconds by the clock that all processes of the service share: that of PostgreSQL, or of the only process. */
  readonly sharedNow: () => number;
  /** The generation that serves. */
  readonly readModelDatabase: SqlDatabase;
  readonly generations: Generations;
  /** Undefined where nothing is traced. */
  readonly tracedEvents: TracedEvents | undefined;
  readonly close: () => Promise<void>;
}

interface ServiceKeys {
  readonly masterKeys: MasterKeys;
  readonly dataKeys: WrappedKeys;
  readonly fingerprints: Buffer;
}

interface FoundationOptions {
  /** Default: a command. */
  readonly part?: Part;
  readonly retry?: StartRetry;
  /** The writer of an embedded log that this process has open already; only for the background thread. */
  readonly writer?: AppendWriter;
}

const sharedNowOf = (database: SqlDatabase & { readonly now?: () => number }) => (): number =>
  database.now?.() ?? Date.now();

const prepareDataDirectory = async (path: string): Promise<void> => {
  try {
    await makeDirectory(path);
  } catch (error) {
    throw new ConfigurationError(troubleWith(error as NodeJS.ErrnoException), { cause: error });
  }
  await ensureUsable(path);
};

/** An embedded engine has one process, which is this one. Shared ones may have processes of the release before, and only their operator knows. */
const chooseFormats = async (
  formats: StoredFormats,
  configuration: Configuration,
  logger: Logger,
): Promise<void> => {
  if (!(await formats.forReleaseWithoutDesk())) return;
  if (keepsFiles(configuration)) return formats.leaveEarlierRelease();
  logger.warn(
    { command: 'upgrade finish' },
    'everything is stored so that processes of earlier releases can go on beside this one; when none runs any more, run `receivables upgrade finish`',
  );
};

/** Only in production: elsewhere a server of its own without any standby is what one expects. */
const warnOfFailover = async (
  { environment, databaseFailover }: Configuration,
  serviceDatabase: SqlDatabase,
  logger: Logger,
): Promise<void> => {
  if (environment !== 'production' || databaseFailover === 'managed') return;
  const settings = await standbySettings(serviceDatabase);
  if (settings && losesAtFailover(settings)) logger.warn({ ...settings }, NO_STANDBY);
};

const keyringOf = async (
  { masterKey, previousMasterKey, dataDir }: Configuration,
  store: KeyStore,
): Promise<() => Keyring> => {
  if (masterKey) return () => ({ current: masterKey, previous: previousMasterKey });
  await masterKeyFromFile(dataDir, async () => (await store.page('', 1)).length > 0);
  return () => keyringFromFiles(dataDir);
};

const openKeys = async (store: KeyStore, load: () => Keyring, part: Part): Promise<ServiceKeys> => {
  const masterKeys = await MasterKeys.open(store, load);
  const dataKeys = new WrappedKeys(store, masterKeys, 'data-keys');
  // A backup from before the first anchor has to know whose signature that is.
  if (part === 'service') await new DataKeyAnchorSigner(dataKeys).prepare();
  return { masterKeys, dataKeys, fingerprints: await dataKey(dataKeys, DATA_KEYS.fingerprints) };
};

/**
 * Opens everything that the parts are built on.
 * @throws ConfigurationError for a combination that cannot work, and for data of which a part is missing or older than the others
 * @throws WrongMasterKeyError @throws what a store says
 */
export const openFoundations = async (
  configuration: Configuration,
  logger: Logger,
  { part = 'command', retry = noRetry, writer }: FoundationOptions = {},
): Promise<Foundations> => {
  const isService = part === 'service';
  const realClock = new SystemClock();
  const clock = new MovableClock(Date.now);
  const observability =
    part === 'command' ? UNOBSERVED : await openObservability(configuration, { clock, logger, part });
  const options = { configuration, part, realClock, logger, observability, writer };
  // A command makes no directory, and with engines of their own it needs none.
  if (part !== 'command' || keepsFiles(configuration)) await prepareDataDirectory(configuration.dataDir);
  if (isService) refuseMissingPart(configuration);
  const { ofFiles, ofLog, ofDatabase } = retriesOf(configuration, retry);
  /** Of the service's database. */
  const until = <T>(attempt: () => Promise<T>): Promise<T> => ofDatabase.until('service_store', attempt);
  return opening(async (kept, close) => {
    kept(await ofFiles.until('data_directory', () => useDataDirectory(configuration, part)));
    const known: { readModels?: SqlDatabase; logFit?: LogFit } = {};
    const mayAppend = async (): Promise<void> => known.logFit?.ensure();
    const eventStore = kept(await ofLog.until('event_store', () => openEventStore(options, mayAppend)));
    const refuseEmpty = async (isEmpty: () => Promise<boolean>): Promise<void> => {
      if (part !== 'background') await refuseEmptyDatabase(configuration, isEmpty, eventStore, ofLog);
    };
    await refuseEmpty(() => isUnwrittenFile(configuration));
    const serviceDatabase = kept(await until(() => openServiceDatabase(options)));
    await refuseEmpty(() => isUntouched(serviceDatabase));
    const steps = await until(() => migrate(serviceDatabase, serviceMigrations, realClock.realNow()));
    if (steps.length > 0) logger.info({ database: 'service_store', steps }, 'tables brought up to date');
    await until(() => ensureMovedWhole(serviceDatabase));
    const logFit = (known.logFit = logFitOf(eventStore, serviceDatabase, () => known.readModels));
    await refuseEmpty(() => hasNoKeys(serviceDatabase));
    if (isService) await refuseOlderLog(configuration, logFit);
    const keyStore = new SqlKeyStore(serviceDatabase, realClock);
    const keyring = await until(() => keyringOf(configuration, keyStore));
    const keys = await until(() => openKeys(keyStore, keyring, part));
    const tables = await ofDatabase.until('read_model', () => generationTables(options, serviceDatabase));
    const generations = new Generations(serviceDatabase, tables, projectionsOn(eventStore));
    const serving = {
      ...{ generations, log: eventStore, logger, signal: retry.signal, thorough: isService },
      watch: observability.metrics?.stores.sql('read_model'),
      ...(eventStore instanceof SqliteEventStore && { head: (stream: string) => eventStore.head(stream) }),
    };
    const readModelDatabase = kept(await ofDatabase.until('read_model', () => openServing(serving)));
    known.readModels = readModelDatabase;
    if (isService) await refuseOlderLog(configuration, logFit);
    const kafka = kafkaOf(options, serviceDatabase);
    const eventBus = kept(await retry.until('event_bus', () => openEventBus(kafka)));
    const formats = new StoredFormats(serviceDatabase);
    if (isService) {
      await until(() => chooseFormats(formats, configuration, logger));
      await until(() => warnOfFailover(configuration, serviceDatabase, logger));
    }
    const movable = configuration.environment !== 'production';
    if (movable) clock.moveTo(await until(() => new SqlClockOffset(serviceDatabase, realClock).read()));
    return {
      ...{ configuration, keyStore, keys, formats, clock, realClock, logger, observability },
      ...(movable && { movableClock: clock }),
      ...{ eventStore, logFit, kafka, eventBus, serviceDatabase, readModelDatabase, generations },
      ...(eventStore instanceof SqliteEventStore && { embeddedLog: eventStore }),
      tracedEvents: tracedEventsOf(configuration, observability, eventStore),
      sharedNow: sharedNowOf(serviceDatabase),
      close,
    };
  });
};
