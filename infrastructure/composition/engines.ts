import { mkdir } from 'node:fs/promises';
import type { EventBus } from '../../application/ports/event-bus.ts';
import type { EventStore, EventSubscription } from '../../application/ports/event-store.ts';
import type { Generations } from '../../application/ports/read-models.ts';
import { SqlGenerations } from '../sql/read-models/generations.ts';
import { migrate } from '../sql/migrations/migrate.ts';
import type { Migration } from '../sql/migrations/migrate.ts';
import { serviceMigrations } from '../sql/migrations/service.ts';
import type { SqlDatabase } from '../sql/sql-database.ts';
import { BusReports } from '../observability/bus-reports.ts';
import { SqliteEventStore } from '../sqlite/event-log/sqlite-event-store.ts';
import type { Configuration } from './configuration.ts';
import { ConfigurationError } from './environment-reader.ts';
import { generationTables, openEventBus, openEventStore, openServiceDatabase } from './engine-rows.ts';
import type { RowOptions } from './engine-rows.ts';
import { refuseOpenEngines } from './insecurities.ts';
import { ensureMovedWhole, useDataDirectory } from './data-directory.ts';
import type { StartRetry } from './start-retry.ts';
import type { Projection } from '../../projections/projection.ts';
import { projectionsOn } from './projections.ts';
import { openServing } from './serving-generation.ts';
import { refuseSplitRoles } from './configuration.ts';

/** The stores and the event bus, open; each of them is embedded or an engine of its own. */
export interface Engines {
  readonly eventStore: EventStore & EventSubscription;
  /** The same where it is embedded. */
  readonly embeddedLog?: SqliteEventStore;
  readonly eventBus: EventBus;
  readonly serviceDatabase: SqlDatabase;
  /** UNIX milliseconds by the clock that all processes of the service share: that of PostgreSQL, or of the only process. */
  readonly sharedNow: () => number;
  /** The generation that serves. */
  readonly readModelDatabase: SqlDatabase;
  readonly generations: Generations;
  /** Every read model, in the order in which they are told of. */
  readonly projections: readonly Projection[];
  /** What the bus puts aside, and what its topics lack. */
  readonly busReports: BusReports;
  close(): Promise<void>;
}

export interface EngineOptions extends RowOptions {
  readonly retry: StartRetry;
}

/** Several processes may share the stores of this one. */
export const sharesStores = ({ engines }: Configuration): boolean => engines.databaseUrl !== undefined;

const tellsTime = (database: SqlDatabase): database is SqlDatabase & { now(): number } =>
  'now' in database && typeof database.now === 'function';

/** Opens what was begun and closes it again, last first, when a later step fails. */
class Opening {
  readonly #closing: (() => Promise<void>)[] = [];
  readonly #options: EngineOptions;

  constructor(options: EngineOptions) {
    this.#options = options;
  }

  async step<T extends { close(): Promise<void> }>(what: string, open: () => Promise<T>): Promise<T> {
    const opened = await this.#options.retry.until(what, open);
    this.#closing.unshift(() => opened.close());
    return opened;
  }

  async database(
    what: string,
    open: (options: RowOptions) => Promise<SqlDatabase>,
    migrations: readonly Migration[],
  ): Promise<SqlDatabase> {
    const { clock, logger, retry } = this.#options;
    const database = await this.step(what, () => open(this.#options));
    const steps = await retry.until(what, () => migrate(database, migrations, clock.realNow()));
    if (steps.length > 0) logger.info({ database: what, steps }, 'tables brought up to date');
    return database;
  }

  readonly close = async (): Promise<void> => {
    for (const close of this.#closing.splice(0)) await close();
  };
}

const makeDataDirectory = async (path: string): Promise<void> => {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new ConfigurationError(`DATA_DIR cannot be used: ${(error as Error).message}`, { cause: error });
  }
};

const keepsFiles = ({ engines }: Configuration): boolean =>
  engines.eventStoreUrl === undefined || engines.databaseUrl === undefined;

/** @throws ConfigurationError for a combination that cannot work */
export const openEngines = async (options: EngineOptions): Promise<Engines> => {
  const { configuration, part } = options;
  // The roles of a thread are only its share of the process.
  if (part !== 'background') refuseSplitRoles(configuration);
  refuseOpenEngines(configuration);
  // A command makes no directory, and with engines of their own it needs none.
  if (part === 'service' || part === 'background' || keepsFiles(configuration))
    await makeDataDirectory(configuration.dataDir);
  const opening = new Opening(options);
  try {
    await opening.step('data_directory', () => useDataDirectory(configuration, part));
    const eventStore = await opening.step('event_store', () => openEventStore(options));
    const serviceDatabase = await opening.database('service_store', openServiceDatabase, serviceMigrations);
    await options.retry.until('service_store', () => ensureMovedWhole(serviceDatabase));
    const tables = await options.retry.until('read_model', () => generationTables(options, serviceDatabase));
    const projections = projectionsOn(eventStore);
    const generations = new SqlGenerations(serviceDatabase, tables, projections);
    const readModelDatabase = await opening.step('read_model', () =>
      openServing({ generations, log: eventStore, logger: options.logger, signal: options.retry.signal }),
    );
    const busReports = new BusReports();
    const eventBus = await opening.step('event_bus', () =>
      openEventBus(options, serviceDatabase, busReports),
    );
    return {
      eventStore,
      ...(eventStore instanceof SqliteEventStore && { embeddedLog: eventStore }),
      eventBus,
      busReports,
      serviceDatabase,
      sharedNow: tellsTime(serviceDatabase) ? () => serviceDatabase.now() : Date.now,
      readModelDatabase,
      generations,
      projections,
      close: opening.close,
    };
  } catch (error) {
    await opening.close();
    throw error;
  }
};
