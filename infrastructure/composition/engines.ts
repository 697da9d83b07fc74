import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { RealClock } from '../../application/ports/clock.ts';
import type {
  EventStore,
  EventSubscription,
  LogPlaces,
  PlacedEvents,
} from '../../application/ports/event-store.ts';
import type { Logger } from '../../application/ports/logger.ts';
import { ConsumerOffsets } from '../../application/processors/consumer-offsets.ts';
import type { GenerationTables } from '../../application/maintenance/rebuild/generations.ts';
import type { SqlDatabase } from '../../application/sql/sql-database.ts';
import { messageOf } from '../../application/support/failures.ts';
import type { KafkaEventBus } from '../kafka/kafka-event-bus.ts';
import type { AppendWriter } from '../sqlite/event-log/event-log-threads.ts';
import { SqliteEventStore } from '../sqlite/event-log/sqlite-event-store.ts';
import { SqliteDatabase } from '../sqlite/sqlite-database.ts';
import { SqliteGenerationTables } from '../sqlite/sqlite-generation-tables.ts';
import { pageCachesOf } from './cache-shares.ts';
import type { Part } from './cache-shares.ts';
import type { Configuration } from './configuration.ts';
import { SERVICE_FILE } from './data-parts.ts';
import { kafkaOptions } from './kafka-configuration.ts';
import { ConfigurationError } from './environment-reader.ts';
import type { Observability } from './observability.ts';

interface EngineOptions {
  readonly configuration: Configuration;
  readonly part: Part;
  readonly realClock: RealClock;
  readonly logger: Logger;
  readonly observability: Observability;
  readonly writer?: AppendWriter | undefined;
}

/** Several processes may share the stores of this one. */
export const sharesStores = ({ engines }: Configuration): boolean => engines.databaseUrl !== undefined;

/** Says who has a lease: a process as people know it, and what is its own in this lease alone. */
export const newHolder = (): string => `${hostname()} ${process.pid} ${randomUUID()}`;
export const processOf = (holder: string): string => holder.slice(0, holder.lastIndexOf(' '));

/** Of the streams or of what stands beside them. */
export const keepsFiles = ({ engines }: Configuration): boolean =>
  engines.eventStoreUrl === undefined || engines.databaseUrl === undefined;

// Clients of engines are loaded where they are used: the embedded profile, and every command on it, starts without them.

/** The streams. EventStoreDB is connected to when it is first used. @throws ConfigurationError for an address that cannot be used */
export const openEventStore = async (
  { configuration, part, logger, writer, observability }: EngineOptions,
  mayAppend: () => Promise<void>,
): Promise<EventStore & EventSubscription & LogPlaces & PlacedEvents & { close(): Promise<void> }> => {
  const { engines, dataDir } = configuration;
  const options = { mayAppend, watch: observability.eventStore, logger };
  if (engines.eventStoreUrl === undefined)
    return SqliteEventStore.open(
      dataDir,
      { ...options, pageCaches: pageCachesOf(configuration, part) },
      writer,
    );
  const { EventStoreDbStore } = await import('../eventstoredb/event-store-db-store.ts');
  try {
    return new EventStoreDbStore({ ...options, url: engines.eventStoreUrl });
  } catch (error) {
    throw new ConfigurationError(`EVENTSTORE_URL cannot be used: ${messageOf(error)}`, { cause: error });
  }
};

/** Subscriptions, deliveries, clients, keys, checkpoints. */
export const openServiceDatabase = async ({
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
export const generationTables = async (
  { configuration, part, logger, realClock }: EngineOptions,
  serviceDatabase: SqlDatabase,
): Promise<GenerationTables> => {
  const { engines, dataDir } = configuration;
  const now = (): string => realClock.realNow();
  const url = engines.databaseUrl;
  if (url === undefined) {
    const options = { logger, writes: 'here', pageCaches: pageCachesOf(configuration, part) } as const;
    return new SqliteGenerationTables(dataDir, options, now);
  }
  const { PostgresGenerationTables } = await import('../postgres/postgres-generation-tables.ts');
  const options = { url, logger, applicationName: 'receivables read model' };
  return PostgresGenerationTables.of(serviceDatabase, options, now);
};

/** Undefined where events go to the webhooks straight from the log. */
export const kafkaOf = (
  { configuration, logger, observability, realClock }: EngineOptions,
  serviceDatabase: SqlDatabase,
) =>
  configuration.kafka &&
  kafkaOptions(configuration.kafka, {
    logger,
    // Kept where the effects of the consumers are.
    offsets: new ConsumerOffsets(serviceDatabase, realClock),
    metrics: observability.metrics?.bus,
  });

/** Kafka is connected to when it is first used. */
export const openEventBus = async (kafka: ReturnType<typeof kafkaOf>): Promise<KafkaEventBus | undefined> => {
  if (kafka === undefined) return undefined;
  const { KafkaEventBus } = await import('../kafka/kafka-event-bus.ts');
  return new KafkaEventBus(kafka);
};
