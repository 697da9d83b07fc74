import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../application/ports/clock.ts';
import type { EventBus } from '../../application/ports/event-bus.ts';
import type { EventStore } from '../../application/ports/event-store.ts';
import type { EventSubscription } from '../../application/ports/event-subscription.ts';
import type { Logger } from '../../application/ports/logger.ts';
import { InProcessEventBus } from '../embedded/in-process-event-bus.ts';
import { SqliteEventStore } from '../embedded/sqlite-event-store.ts';
import { migrate } from '../sql/migration.ts';
import { readModelMigrations } from '../sql/read-model-migrations.ts';
import { serviceMigrations } from '../sql/service-migrations.ts';
import type { SqlDatabase } from '../sql/sql-database.ts';
import { SqliteDatabase } from '../sql/sqlite/sqlite-database.ts';
import type { Configuration } from './configuration.ts';
import { ConfigurationError } from './environment-reader.ts';

/** What keeps and carries: one set a profile, all of it open. */
export interface Engines {
  readonly eventStore: EventStore & EventSubscription;
  readonly eventBus: EventBus;
  readonly serviceDatabase: SqlDatabase;
  readonly readModelDatabase: SqlDatabase;
  close(): Promise<void>;
}

const refuseUnsupported = ({ engines }: Configuration): void => {
  const named = {
    EVENTSTORE_URL: engines.eventStoreUrl,
    KAFKA_BROKERS: engines.kafkaBrokers,
    DATABASE_URL: engines.databaseUrl,
    S3_URL: engines.s3Url,
  };
  for (const [variable, value] of Object.entries(named)) {
    if (value === undefined) continue;
    throw new ConfigurationError(
      `${variable} is set, but this version has the embedded profile only: leave it unset`,
    );
  }
};

/** Events travel inside the process, and a read waits for the projector beside it: some roles cannot be apart here. */
const refuseSplitRoles = ({ roles }: Configuration): void => {
  if (roles.includes('relay') !== roles.includes('webhooks')) {
    throw new ConfigurationError(
      'ROLES: relay and webhooks have to run in one process in the embedded profile',
    );
  }
  if (roles.includes('api') && !roles.includes('projector')) {
    throw new ConfigurationError('ROLES: api needs projector in the same process in the embedded profile');
  }
};

/** Opens what was begun and closes it again, last first, when a later step fails. */
class Opening {
  readonly #closing: (() => Promise<void>)[] = [];

  async step<T extends { close(): Promise<void> }>(open: () => Promise<T>): Promise<T> {
    const opened = await open();
    this.#closing.unshift(() => opened.close());
    return opened;
  }

  readonly close = async (): Promise<void> => {
    for (const close of this.#closing.splice(0)) await close();
  };
}

const openDatabases = async (opening: Opening, dataDir: string, clock: Clock, logger: Logger) => {
  const serviceDatabase = await opening.step(() =>
    SqliteDatabase.open({ path: join(dataDir, 'service.db'), synchronous: 'FULL', logger }),
  );
  await migrate(serviceDatabase, serviceMigrations, clock.now());
  // Rebuildable from the streams, so a power cut may cost its last transactions, never its consistency.
  const readModelDatabase = await opening.step(() =>
    SqliteDatabase.open({ path: join(dataDir, 'read-model.db'), synchronous: 'NORMAL', logger }),
  );
  await migrate(readModelDatabase, readModelMigrations, clock.now());
  return { serviceDatabase, readModelDatabase };
};

/** The embedded profile: everything in DATA_DIR, nothing but Node.js. @throws ConfigurationError for engines it does not have */
export const openEngines = async (
  configuration: Configuration,
  clock: Clock,
  logger: Logger,
): Promise<Engines> => {
  refuseUnsupported(configuration);
  refuseSplitRoles(configuration);
  const { dataDir } = configuration;
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const opening = new Opening();
  try {
    const eventStore = await opening.step(() => SqliteEventStore.open(dataDir, { logger }));
    const databases = await openDatabases(opening, dataDir, clock, logger);
    const eventBus = await opening.step(() => Promise.resolve(new InProcessEventBus({ logger })));
    return { eventStore, eventBus, ...databases, close: opening.close };
  } catch (error) {
    await opening.close();
    throw error;
  }
};
