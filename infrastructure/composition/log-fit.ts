import { statSync } from 'node:fs';
import { join } from 'node:path';
import { LogFit } from '../../application/processors/log-fit.ts';
import type { EventSubscription, LogPlaces } from '../../application/ports/event-store.ts';
import { StoreUnavailableError } from '../../application/ports/event-store.ts';
import { SqlCheckpointStore } from '../../application/coordination/stored-places.ts';
import { SqlKeyStore } from '../../application/coordination/key-store.ts';
import { Generation } from '../../application/maintenance/rebuild/open-generation.ts';
import type { SqlDatabase } from '../../application/sql/sql-database.ts';
import { upToNow } from '../../application/support/up-to-now.ts';
import { EVENT_LOG_FILE } from '../sqlite/event-log/event-log-threads.ts';
import { SystemClock, pause } from '../support/time.ts';
import type { Configuration } from './configuration.ts';
import { RESTORE, SERVICE_FILE } from './data-parts.ts';
import { ConfigurationError } from './environment-reader.ts';
import type { StartRetry } from './start-retry.ts';

const clock = new SystemClock();

/** Of the relay and the scheduler, and of the read models once they are open. */
export const logFitOf = (
  log: LogPlaces,
  serviceDatabase: SqlDatabase,
  readModels: () => SqlDatabase | undefined,
): LogFit => {
  const checkpoints = new SqlCheckpointStore(serviceDatabase, clock);
  const placesOf = async (database: SqlDatabase) =>
    [...(await new Generation(0, database).places())].map(([name, { position }]) => ({ name, position }));
  return new LogFit({
    log,
    pause,
    places: async () => {
      const database = readModels();
      return [...(await checkpoints.list()), ...(database ? await placesOf(database) : [])];
    },
  });
};

/**
 * Where the log cannot be asked now the service starts all the same: it takes writes once it has been.
 * @throws ConfigurationError
 */
export const refuseOlderLog = async ({ dataDir, engines }: Configuration, fit: LogFit): Promise<void> => {
  const problem = await fit.problem().catch((error: unknown) => {
    if (error instanceof StoreUnavailableError) return undefined;
    throw error;
  });
  if (problem === undefined) return;
  throw new ConfigurationError(
    engines.eventStoreUrl === undefined
      ? `${join(dataDir, EVENT_LOG_FILE)}: ${problem}; put the newer one back, or ${RESTORE}; docs/operations.md says how to go on with this one`
      : `EVENTSTORE_URL: ${problem}`,
  );
};

/** Any of a service's own, or of streams whose name begins so. */
export const holdsEvents = async (log: EventSubscription, streamPrefix = ''): Promise<boolean> => {
  for await (const { kind } of upToNow(log, { from: 'start', streamPrefix, batchSize: 1 }))
    if (kind === 'events') return true;
  return false;
};

/** Whether the service's database is a file in which nothing was ever written: opening it would be the first to. */
export const isUnwrittenFile = async ({ dataDir, engines }: Configuration): Promise<boolean> =>
  engines.databaseUrl === undefined &&
  (statSync(join(dataDir, SERVICE_FILE), { throwIfNoEntry: false })?.size ?? 0) === 0;

export const hasNoKeys = async (database: SqlDatabase): Promise<boolean> =>
  (await new SqlKeyStore(database, clock).page('', 1)).length === 0;

/**
 * A service makes its keys before its first event, so events without any key are those of another database: new keys would open
 * nothing of what is there.
 * @throws ConfigurationError
 */
export const refuseEmptyDatabase = async (
  { dataDir, engines }: Configuration,
  isEmpty: () => Promise<boolean>,
  log: EventSubscription,
  retry: StartRetry,
): Promise<void> => {
  if (!(await isEmpty()) || !(await retry.until('event_store', () => holdsEvents(log)))) return;
  // Another process may have made them, and appended, since the first look.
  if (!(await isEmpty())) return;
  throw new ConfigurationError(
    engines.databaseUrl === undefined
      ? `${join(dataDir, SERVICE_FILE)} is empty, and the event store holds events: put the one back that belongs to them, or ${RESTORE}`
      : 'DATABASE_URL names an empty database, and the event store holds events: name the database that belongs to them, or restore it; `receivables migrate` moves an embedded service into an empty one',
  );
};
