import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { KafkaEventBus } from '../kafka/kafka-event-bus.ts';
import type { LogFit } from '../../application/processors/log-fit.ts';
import type {
  EventStore,
  EventSubscription,
  LogPlaces,
  PlacedEvents,
} from '../../application/ports/event-store.ts';
import type { RealClock } from '../../application/ports/clock.ts';
import type { Logger } from '../../application/ports/logger.ts';
import { ConsumerOffsets } from '../../application/processors/consumer-offsets.ts';
import { Generations } from '../../application/maintenance/rebuild/generations.ts';
import type { GenerationTables } from '../../application/maintenance/rebuild/generations.ts';
import { isUntouched, migrate } from '../../application/sql/migrations/migrate.ts';
import { serviceMigrations } from '../../application/sql/migrations/service.ts';
import type { SqlDatabase } from '../../application/sql/sql-database.ts';
import type { TracedEvents } from '../observability/tracing/event-traces.ts';
import type { AppendWriter } from '../sqlite/event-log/event-log-threads.ts';
import { SqliteEventStore } from '../sqlite/event-log/sqlite-event-store.ts';
import { SqliteDatabase } from '../sqlite/sqlite-database.ts';
import { SqliteGenerationTables } from '../sqlite/sqlite-generation-tables.ts';
import type { Configuration } from './configuration.ts';
import { SERVICE_FILE, ensureUsable, refuseMissingPart, troubleWith } from './data-parts.ts';
import { pageCachesOf } from './cache-shares.ts';
import type { Part } from './cache-shares.ts';
import { kafkaOptions } from './kafka-configuration.ts';
import { ConfigurationError } from './environment-reader.ts';
import { hasNoKeys, isUnwrittenFile, logFitOf, refuseEmptyDatabase, refuseOlderLog } from './log-fit.ts';
import { retriesOf } from './start-retry.ts';
import { refuseOpenEngines } from './insecurities.ts';
import { ensureMovedWhole, useDataDirectory } from './data-directory.ts';
import type { StartRetry } from './start-retry.ts';
import { projectionsOn } from './projections.ts';
import { openServing } from './serving-generation.ts';
import { refuseSplitRoles } from './configuration.ts';
import { tracedEventsOf } from './observability.ts';
import type { Observability } from './observability.ts';

/** The stores and the event bus, open; each of them is embedded or an engine of its own. */
export interface Engines {
  readonly eventStore: EventStore & EventSubscription & LogPlaces & PlacedEvents;
  /** The same where it is embedded. */
  readonly embeddedLog?: SqliteEventStore;
  readonly logFit: LogFit;
  /** Undefined where events go to the webhooks straight from the log, as is the bus. */
  readonly kafka: ReturnType<typeof kafkaOptions> | undefined;
  readonly eventBus: KafkaEventBus | undefined;
  readonly serviceDatabase: SqlDatabase;
  /** UNIX milliseconds by the clock that all processes of the service share: that of PostgreSQL, or of the only process. */
  readonly sharedNow: () => number;
  /** The generation that serves. */
  readonly readModelDatabase: SqlDatabase;
  readonly generations: Generations;
  /** Undefined where nothing is traced. */
  readonly tracedEvents: TracedEvents | undefined;
  close(): Promise<void>;
}

export interface EngineOptions {
  readonly part: Part;
  /** The writer of an embedded log that this process has open already; only for the background thread. */
  readonly writer?: AppendWriter;
  readonly configuration: Configuration;
  readonly clock: RealClock;
  readonly logger: Logger;
  readonly observability: Observability;
  readonly retry: StartRetry;
  /** Called before anything is made of the log: what it throws ends the opening. */
  readonly onServiceDatabase?: (database: SqlDatabase) => Promise<void>;
}

/** Several processes may share the stores of this one. */
export const sharesStores = ({ engines }: Configuration): boolean => engines.databaseUrl !== undefined;

const tellsTime = (database: SqlDatabase): database is SqlDatabase & { now(): number } =>
  'now' in database && typeof database.now === 'function';

/** Opens what was begun and closes it again, last first, when a later step fails. */
class Opening {
  readonly #closing: (() => Promise<void>)[] = [];
  readonly #retry: StartRetry;

  constructor(retry: StartRetry) {
    this.#retry = retry;
  }

  async step<T extends { close(): Promise<void> } | undefined>(
    what: string,
    open: () => Promise<T>,
    retry: StartRetry = this.#retry,
  ): Promise<T> {
    const opened = await retry.until(what, open);
    if (opened) this.#closing.unshift(() => opened.close());
    return opened;
  }

  readonly close = async (): Promise<void> => {
    for (const close of this.#closing.splice(0)) await close();
  };
}

const prepareDataDirectory = async (path: string): Promise<void> => {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new ConfigurationError(troubleWith(error as NodeJS.ErrnoException), { cause: error });
  }
  await ensureUsable(path);
};

/** What a service keeps beside its streams, brought up to date. */
const prepareService = async (
  database: SqlDatabase,
  options: EngineOptions,
  retry: StartRetry,
): Promise<void> => {
  const what = 'service_store';
  const now = options.clock.realNow();
  const steps = await retry.until(what, () => migrate(database, serviceMigrations, now));
  if (steps.length > 0) options.logger.info({ database: what, steps }, 'tables brought up to date');
  await retry.until(what, () => ensureMovedWhole(database));
};

/** Of the streams or of what stands beside them. */
export const keepsFiles = ({ engines }: Configuration): boolean =>
  engines.eventStoreUrl === undefined || engines.databaseUrl === undefined;

// Clients of engines are loaded where they are used: the embedded profile, and every command on it, starts without them.

/** The streams. EventStoreDB is connected to when it is first used. @throws Error for an address that cannot be read */
const openEventStore = async (
  { configuration, part, logger, writer, observability }: EngineOptions,
  mayAppend: () => Promise<void>,
): Promise<EventStore & EventSubscription & LogPlaces & PlacedEvents & { close(): Promise<void> }> => {
  const { engines, dataDir } = configuration;
  const guards = { mayAppend, watch: observability.eventStore };
  const options = { ...guards, logger, pageCaches: pageCachesOf(configuration, part) };
  if (engines.eventStoreUrl === undefined) return SqliteEventStore.open(dataDir, options, writer);
  const { EventStoreDbStore } = await import('../eventstoredb/event-store-db-store.ts');
  return new EventStoreDbStore({ ...guards, url: engines.eventStoreUrl, logger });
};

/** Subscriptions, deliveries, clients, keys, checkpoints. */
const openServiceDatabase = async ({
  configuration,
  logger,
  part,
  observability,
}: EngineOptions): Promise<SqlDatabase> => {
  const url = configuration.engines.databaseUrl;
  const watch = observability.metrics?.stores.sql('service');
  if (url === undefined)
    return SqliteDatabase.open({
      path: join(configuration.dataDir, SERVICE_FILE),
      pageCaches: pageCachesOf(configuration, part),
      synchronous: 'FULL',
      logger,
      watch,
      // A service has other things to do than to wait for the disk.
      writes: part === 'command' ? 'here' : 'thread',
    });
  const { PostgresDatabase } = await import('../postgres/postgres-database.ts');
  return PostgresDatabase.open({ url, logger, watch, applicationName: 'receivables service' });
};

/** Files in DATA_DIR, or schemas of the same PostgreSQL database. */
const generationTables = async (
  { configuration, part, logger, clock }: EngineOptions,
  serviceDatabase: SqlDatabase,
): Promise<GenerationTables> => {
  const { engines, dataDir } = configuration;
  const now = (): string => clock.realNow();
  const url = engines.databaseUrl;
  if (url === undefined) {
    const pageCaches = pageCachesOf(configuration, part);
    const options = { logger, writes: 'here', pageCaches } as const;
    return new SqliteGenerationTables(dataDir, options, now);
  }
  const { PostgresGenerationTables } = await import('../postgres/postgres-generation-tables.ts');
  const options = { url, logger, applicationName: 'receivables read model' };
  return PostgresGenerationTables.of(serviceDatabase, options, now);
};

/** Undefined where none is configured. Kafka is connected to when it is first used. */
const openEventBus = async (kafka: Engines['kafka']): Promise<KafkaEventBus | undefined> => {
  if (kafka === undefined) return undefined;
  const { KafkaEventBus } = await import('../kafka/kafka-event-bus.ts');
  return new KafkaEventBus(kafka);
};

/** @throws ConfigurationError for a combination that cannot work, and for data of which a part is missing or older than the others */
export const openEngines = async (options: EngineOptions): Promise<Engines> => {
  const { configuration, part } = options;
  // The roles of a thread are only its share of the process.
  if (part !== 'background') refuseSplitRoles(configuration);
  refuseOpenEngines(configuration);
  // A command makes no directory, and with engines of their own it needs none.
  if (part === 'service' || part === 'background' || keepsFiles(configuration))
    await prepareDataDirectory(configuration.dataDir);
  if (part === 'service') refuseMissingPart(configuration);
  const opening = new Opening(options.retry);
  const { ofFiles, ofLog, ofDatabase } = retriesOf(configuration, options.retry);
  try {
    await opening.step('data_directory', () => useDataDirectory(configuration, part), ofFiles);
    const opened: { readModels?: SqlDatabase; logFit?: LogFit } = {};
    const mayAppend = async (): Promise<void> => opened.logFit?.ensure();
    const eventStore = await opening.step('event_store', () => openEventStore(options, mayAppend), ofLog);
    const refuseEmpty = async (isEmpty: () => Promise<boolean>): Promise<void> => {
      if (part !== 'background') await refuseEmptyDatabase(configuration, isEmpty, eventStore, ofLog);
    };
    await refuseEmpty(() => isUnwrittenFile(configuration));
    const serviceDatabase = await opening.step(
      'service_store',
      () => openServiceDatabase(options),
      ofDatabase,
    );
    await refuseEmpty(() => isUntouched(serviceDatabase));
    await prepareService(serviceDatabase, options, ofDatabase);
    const logFit = logFitOf(eventStore, serviceDatabase, () => opened.readModels);
    opened.logFit = logFit;
    await refuseEmpty(() => hasNoKeys(serviceDatabase));
    if (part === 'service') await refuseOlderLog(configuration, logFit);
    await options.onServiceDatabase?.(serviceDatabase);
    const tables = await ofDatabase.until('read_model', () => generationTables(options, serviceDatabase));
    const generations = new Generations(serviceDatabase, tables, projectionsOn(eventStore));
    const { logger, retry } = options;
    const readModelDatabase = await opening.step(
      'read_model',
      () =>
        openServing({
          ...{ generations, log: eventStore, logger },
          signal: retry.signal,
          thorough: part === 'service',
          watch: options.observability.metrics?.stores.sql('read_model'),
        }),
      ofDatabase,
    );
    opened.readModels = readModelDatabase;
    if (part === 'service') await refuseOlderLog(configuration, logFit);
    const kafka =
      configuration.kafka &&
      kafkaOptions(configuration.kafka, {
        logger,
        // Kept where the effects of the consumers are.
        offsets: new ConsumerOffsets(serviceDatabase, options.clock),
        metrics: options.observability.metrics?.bus,
      });
    const eventBus = await opening.step('event_bus', () => openEventBus(kafka));
    return {
      eventStore,
      ...(eventStore instanceof SqliteEventStore && { embeddedLog: eventStore }),
      logFit,
      kafka,
      eventBus,
      tracedEvents: tracedEventsOf(configuration, options.observability, eventStore),
      serviceDatabase,
      sharedNow: tellsTime(serviceDatabase) ? () => serviceDatabase.now() : Date.now,
      readModelDatabase,
      generations,
      close: opening.close,
    };
  } catch (error) {
    await opening.close();
    throw error;
  }
};
