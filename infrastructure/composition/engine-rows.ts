import { join } from 'node:path';
import type { RealClock } from '../../application/ports/clock.ts';
import type { EventBus } from '../../application/ports/event-bus.ts';
import type { EventStore, EventSubscription } from '../../application/ports/event-store.ts';
import type { Logger } from '../../application/ports/logger.ts';
import { InProcessEventBus } from '../embedded/in-process-event-bus.ts';
import type { CreateWorker } from '../sqlite/database-thread.ts';
import type { AppendWriter } from '../sqlite/event-log/event-log-threads.ts';
import { SqliteEventStore } from '../sqlite/event-log/sqlite-event-store.ts';
import type { BusReports } from '../observability/bus-reports.ts';
import { SqlConsumerOffsets } from '../sql/consumer-offsets.ts';
import type { SqlDatabase } from '../sql/sql-database.ts';
import type { GenerationTables } from '../sql/read-models/generations.ts';
import { SqliteDatabase } from '../sql/sqlite-database.ts';
import { SqliteGenerationTables } from '../sql/read-models/sqlite-generation-tables.ts';
import type { Configuration } from './configuration.ts';
import { kafkaConnection } from './kafka-configuration.ts';

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
  /** Default: threads of Node.js. */
  readonly createWorker?: CreateWorker;
  readonly configuration: Configuration;
  readonly clock: RealClock;
  readonly logger: Logger;
}

// Clients of engines are loaded where they are used: the embedded profile, and every command on it, starts without them.

/** The streams. EventStoreDB is connected to when it is first used. @throws Error for an address that cannot be read */
export const openEventStore = async ({
  configuration: { engines, dataDir },
  logger,
  writer,
  createWorker,
}: RowOptions): Promise<EventStore & EventSubscription & Closing> => {
  if (engines.eventStoreUrl === undefined)
    return writer
      ? SqliteEventStore.beside(dataDir, writer, logger)
      : SqliteEventStore.open(dataDir, { logger, ...(createWorker && { createWorker }) });
  const { EventStoreDbStore } = await import('../eventstoredb/event-store-db-store.ts');
  return EventStoreDbStore.open({ url: engines.eventStoreUrl, logger });
};

const openPostgres = async (url: string, applicationName: string, logger: Logger): Promise<SqlDatabase> => {
  const { PostgresDatabase } = await import('../sql/postgres-database.ts');
  return PostgresDatabase.open({ url, logger, applicationName });
};

/** Subscriptions, deliveries, clients, keys, checkpoints. */
export const openServiceDatabase = ({
  configuration: { engines, dataDir },
  logger,
  part = 'command',
  createWorker,
}: RowOptions): Promise<SqlDatabase> =>
  engines.databaseUrl === undefined
    ? SqliteDatabase.open({
        path: join(dataDir, SERVICE_FILE),
        synchronous: 'FULL',
        logger,
        // A service has other things to do than to wait for the disk.
        writes: part === 'command' ? 'here' : 'thread',
        ...(createWorker && { createWorker }),
      })
    : openPostgres(engines.databaseUrl, 'receivables service', logger);

/** Files in DATA_DIR, or schemas of the same PostgreSQL database. */
export const generationTables = async (
  { configuration: { engines, dataDir }, logger, clock, createWorker }: RowOptions,
  serviceDatabase: SqlDatabase,
): Promise<GenerationTables> => {
  const now = (): string => clock.realNow();
  const url = engines.databaseUrl;
  if (url === undefined) {
    const options = { logger, writes: 'here', ...(createWorker && { createWorker }) } as const;
    return new SqliteGenerationTables(dataDir, options, now);
  }
  const { PostgresGenerationTables } = await import('../sql/read-models/postgres-generation-tables.ts');
  const options = { url, logger, applicationName: 'receivables read model' };
  return PostgresGenerationTables.of(serviceDatabase, options, now);
};

/** Kafka is connected to when it is first used; offsets are kept where the effects of the consumers are. */
export const openEventBus = async (
  { configuration, clock, logger }: RowOptions,
  serviceDatabase: SqlDatabase,
  reports: BusReports,
): Promise<EventBus> => {
  const { kafka } = configuration;
  if (kafka === undefined) return new InProcessEventBus({ logger });
  const { KafkaEventBus } = await import('../kafka/kafka-event-bus.ts');
  const offsets = new SqlConsumerOffsets(serviceDatabase, clock);
  return KafkaEventBus.open({
    ...kafkaConnection(kafka, logger),
    offsets,
    metrics: reports,
    topicMetrics: reports,
  });
};
