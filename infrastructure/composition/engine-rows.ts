import { join } from 'node:path';
import type { Clock } from '../../application/ports/clock.ts';
import type { EventBus } from '../../application/ports/event-bus.ts';
import type { EventStore } from '../../application/ports/event-store.ts';
import type { EventSubscription } from '../../application/ports/event-subscription.ts';
import type { Logger } from '../../application/ports/logger.ts';
import { InProcessEventBus } from '../embedded/in-process-event-bus.ts';
import { SqliteEventStore } from '../embedded/sqlite-event-store.ts';
import type { DeadLetterCounts } from '../observability/dead-letter-counts.ts';
import { SqlConsumerOffsets } from '../sql/consumer-offsets.ts';
import type { SqlDatabase } from '../sql/sql-database.ts';
import { SqliteDatabase } from '../sql/sqlite/sqlite-database.ts';
import type { Configuration } from './configuration.ts';
import { kafkaConnection } from './kafka-configuration.ts';

/** In DATA_DIR: what cannot be rebuilt beside the events. */
export const SERVICE_FILE = 'service.db';

interface Closing {
  close(): Promise<void>;
}

export interface RowOptions {
  readonly configuration: Configuration;
  readonly clock: Clock;
  readonly logger: Logger;
}

// Clients of engines are loaded where they are used: the embedded profile, and every command on it, starts without them.

/** The streams. EventStoreDB is connected to when it is first used. @throws Error for an address that nobody can connect to */
export const openEventStore = async ({
  configuration: { engines, dataDir },
  logger,
}: RowOptions): Promise<EventStore & EventSubscription & Closing> => {
  if (engines.eventStoreUrl === undefined) return SqliteEventStore.open(dataDir, { logger });
  const { EventStoreDbStore } = await import('../eventstoredb/event-store-db-store.ts');
  return EventStoreDbStore.open({ url: engines.eventStoreUrl, logger });
};

const openPostgres = async (url: string, applicationName: string, logger: Logger): Promise<SqlDatabase> => {
  const { PostgresDatabase } = await import('../sql/postgres/postgres-database.ts');
  return PostgresDatabase.open({ url, logger, applicationName });
};

/** Subscriptions, deliveries, clients, keys, checkpoints. */
export const openServiceDatabase = ({
  configuration: { engines, dataDir },
  logger,
}: RowOptions): Promise<SqlDatabase> =>
  engines.databaseUrl === undefined
    ? SqliteDatabase.open({ path: join(dataDir, SERVICE_FILE), synchronous: 'FULL', logger })
    : openPostgres(engines.databaseUrl, 'receivables service', logger);

/** In the same PostgreSQL database, over connections of its own: readers do not wait behind deliveries. */
export const openReadModelDatabase = ({
  configuration: { engines, dataDir },
  logger,
}: RowOptions): Promise<SqlDatabase> =>
  engines.databaseUrl === undefined
    ? // Rebuildable from the streams, so a power cut may cost its last transactions, never its consistency.
      SqliteDatabase.open({ path: join(dataDir, 'read-model.db'), synchronous: 'NORMAL', logger })
    : openPostgres(engines.databaseUrl, 'receivables read model', logger);

/** Kafka is connected to when it is first used; offsets are kept where the effects of the consumers are. */
export const openEventBus = async (
  { configuration, clock, logger }: RowOptions,
  serviceDatabase: SqlDatabase,
  metrics: DeadLetterCounts,
): Promise<EventBus> => {
  const { kafka } = configuration;
  if (kafka === undefined) return new InProcessEventBus({ logger });
  const { KafkaEventBus } = await import('../kafka/kafka-event-bus.ts');
  const offsets = new SqlConsumerOffsets(serviceDatabase, clock);
  return KafkaEventBus.open({ ...kafkaConnection(kafka, logger), offsets, metrics });
};
