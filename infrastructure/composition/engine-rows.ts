import { join } from 'node:path';
import type { RealClock } from '../../application/ports/clock.ts';
import type { KafkaEventBus } from '../kafka/kafka-event-bus.ts';
import type {
  EventStore,
  EventSubscription,
  LogPlaces,
  PlacedEvents,
} from '../../application/ports/event-store.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { AppendWriter } from '../sqlite/event-log/event-log-threads.ts';
import { SqliteEventStore } from '../sqlite/event-log/sqlite-event-store.ts';
import { ConsumerOffsets } from '../../application/processors/consumer-offsets.ts';
import type { SqlDatabase } from '../../application/sql/sql-database.ts';
import type { GenerationTables } from '../../application/maintenance/rebuild/generations.ts';
import { SqliteDatabase } from '../sqlite/sqlite-database.ts';
import { SqliteGenerationTables } from '../sqlite/sqlite-generation-tables.ts';
import { pageCachesOf } from './cache-shares.ts';
import type { Configuration } from './configuration.ts';
import { kafkaOptions } from './kafka-configuration.ts';
import { UNOBSERVED } from './observability.ts';
import type { Observability } from './observability.ts';

/** In DATA_DIR: what cannot be rebuilt beside the events. */
export const SERVICE_FILE = 'service.db';

interface Closing {
  close(): Promise<void>;
}

export interface RowOptions {
  /** What the engines are opened for: a command (default), the service, or the thread beside the one that has opened them for it. */
  readonly part?: 'command' | 'service' | 'background';
  /** The writer of an embedded log that this process has open already; only for the background thread. */
  readonly writer?: AppendWriter;
  readonly configuration: Configuration;
  readonly clock: RealClock;
  readonly logger: Logger;
  /** Default: nobody watches. */
  readonly observability?: Observability;
}

// Clients of engines are loaded where they are used: the embedded profile, and every command on it, starts without them.

/** The streams. EventStoreDB is connected to when it is first used. @throws Error for an address that cannot be read */
export const openEventStore = async (
  { configuration, part, logger, writer, observability = UNOBSERVED }: RowOptions,
  mayAppend: () => Promise<void>,
): Promise<EventStore & EventSubscription & LogPlaces & PlacedEvents & Closing> => {
  const { engines, dataDir } = configuration;
  const guards = { mayAppend, watch: observability.eventStore };
  const options = { ...guards, logger, pageCaches: pageCachesOf(configuration, part) };
  if (engines.eventStoreUrl === undefined) return SqliteEventStore.open(dataDir, options, writer);
  const { EventStoreDbStore } = await import('../eventstoredb/event-store-db-store.ts');
  return new EventStoreDbStore({ ...guards, url: engines.eventStoreUrl, logger });
};

/** Subscriptions, deliveries, clients, keys, checkpoints. */
export const openServiceDatabase = async ({
  configuration,
  logger,
  part = 'command',
  observability = UNOBSERVED,
}: RowOptions): Promise<SqlDatabase> => {
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
export const generationTables = async (
  { configuration, part, logger, clock }: RowOptions,
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

/** What clients of Kafka are made of; undefined where none is configured. Offsets are kept where the effects of the consumers are. */
export const kafkaOf = (
  { configuration: { kafka }, clock, logger, observability = UNOBSERVED }: RowOptions,
  serviceDatabase: SqlDatabase,
) =>
  kafka &&
  kafkaOptions(kafka, {
    logger,
    offsets: new ConsumerOffsets(serviceDatabase, clock),
    metrics: observability.metrics?.bus,
  });

/** Undefined where none is configured. Kafka is connected to when it is first used. */
export const openEventBus = async (kafka: ReturnType<typeof kafkaOf>): Promise<KafkaEventBus | undefined> => {
  if (kafka === undefined) return undefined;
  const { KafkaEventBus } = await import('../kafka/kafka-event-bus.ts');
  return new KafkaEventBus(kafka);
};
