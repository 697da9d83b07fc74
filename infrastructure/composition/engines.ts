import { mkdir } from 'node:fs/promises';
import type { EventBus } from '../../application/ports/event-bus.ts';
import type { EventStore } from '../../application/ports/event-store.ts';
import type { EventSubscription } from '../../application/ports/event-subscription.ts';
import { migrate } from '../sql/migration.ts';
import type { Migration } from '../sql/migration.ts';
import { readModelMigrations } from '../sql/read-model-migrations.ts';
import { serviceMigrations } from '../sql/service-migrations.ts';
import type { SqlDatabase } from '../sql/sql-database.ts';
import { DeadLetterCounts } from '../observability/dead-letter-counts.ts';
import type { Configuration } from './configuration.ts';
import { ConfigurationError } from './environment-reader.ts';
import { openEventBus, openEventStore, openReadModelDatabase, openServiceDatabase } from './engine-rows.ts';
import type { RowOptions } from './engine-rows.ts';
import { ensureMovedWhole, useDataDirectory } from './moved-data.ts';
import type { Patience } from './patience.ts';
import { refuseSplitRoles } from './role-rules.ts';

/** What keeps and carries, all of it open; each row of it is embedded or an engine of its own. */
export interface Engines {
  readonly eventStore: EventStore & EventSubscription;
  readonly eventBus: EventBus;
  readonly serviceDatabase: SqlDatabase;
  readonly readModelDatabase: SqlDatabase;
  /** What the bus puts aside, for good. */
  readonly busDeadLetters: DeadLetterCounts;
  close(): Promise<void>;
}

export interface EngineOptions extends RowOptions {
  readonly patience: Patience;
}

/** Several processes may share the stores of this one. */
export const sharesStores = ({ engines }: Configuration): boolean => engines.databaseUrl !== undefined;

/** Opens what was begun and closes it again, last first, when a later step fails. */
class Opening {
  readonly #closing: (() => Promise<void>)[] = [];
  readonly #options: EngineOptions;

  constructor(options: EngineOptions) {
    this.#options = options;
  }

  async step<T extends { close(): Promise<void> }>(what: string, open: () => Promise<T>): Promise<T> {
    const opened = await this.#options.patience.until(what, open);
    this.#closing.unshift(() => opened.close());
    return opened;
  }

  async database(
    what: string,
    open: (options: RowOptions) => Promise<SqlDatabase>,
    migrations: readonly Migration[],
  ): Promise<SqlDatabase> {
    const { clock, patience } = this.#options;
    const database = await this.step(what, () => open(this.#options));
    await patience.until(what, () => migrate(database, migrations, clock.now()));
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

/** @throws ConfigurationError for a combination that cannot work */
export const openEngines = async (options: EngineOptions): Promise<Engines> => {
  const { configuration } = options;
  refuseSplitRoles(configuration);
  await makeDataDirectory(configuration.dataDir);
  const opening = new Opening(options);
  try {
    await opening.step('data_directory', () => useDataDirectory(configuration));
    const eventStore = await opening.step('event_store', () => openEventStore(options));
    const serviceDatabase = await opening.database('service_store', openServiceDatabase, serviceMigrations);
    await options.patience.until('service_store', () => ensureMovedWhole(serviceDatabase));
    const readModelDatabase = await opening.database(
      'read_model',
      openReadModelDatabase,
      readModelMigrations,
    );
    const busDeadLetters = new DeadLetterCounts();
    const eventBus = await opening.step('event_bus', () =>
      openEventBus(options, serviceDatabase, busDeadLetters),
    );
    return { eventStore, eventBus, busDeadLetters, serviceDatabase, readModelDatabase, close: opening.close };
  } catch (error) {
    await opening.close();
    throw error;
  }
};
