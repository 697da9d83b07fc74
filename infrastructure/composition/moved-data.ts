import { DirectoryInUseError, lockDirectory } from '../embedded/directory-lock.ts';
import type { DirectoryLock } from '../embedded/directory-lock.ts';
import { lockForService } from '../embedded/service-lock.ts';
import { MOVED_FILE, readMigrationMarker } from '../embedded/migration-marker.ts';
import type { MigrationMarker, MovedRow } from '../embedded/migration-marker.ts';
import { readMove } from '../sql/moving/move-ledger.ts';
import type { SqlDatabase } from '../sql/sql-database.ts';
import type { Configuration } from './configuration.ts';
import type { RowOptions } from './engine-rows.ts';
import { ConfigurationError } from './environment-reader.ts';

const VARIABLES: Readonly<Record<MovedRow, string>> = {
  'event store': 'EVENTSTORE_URL',
  database: 'DATABASE_URL',
  documents: 'S3_URL',
};

/** What this configuration keeps in the data directory. */
const embeddedRows = ({ engines }: Configuration): readonly MovedRow[] => [
  ...(engines.eventStoreUrl === undefined ? (['event store'] as const) : []),
  ...(engines.databaseUrl === undefined ? (['database'] as const) : []),
  ...(engines.s3Url === undefined ? (['documents'] as const) : []),
];

const gone = (
  dataDir: string,
  { state, at }: MigrationMarker,
  rows: readonly MovedRow[],
): ConfigurationError => {
  const names = rows.map((row) => VARIABLES[row]).join(', ');
  return new ConfigurationError(
    state === 'moving'
      ? `${dataDir} is being moved to other engines since ${at}: let \`receivables migrate\` finish, or remove ${MOVED_FILE} there to go back`
      : `what ${dataDir} holds was moved to other engines at ${at}, and this copy is old: set ${names}`,
  );
};

const share = (dataDir: string): DirectoryLock => {
  try {
    return lockDirectory(dataDir, 'shared');
  } catch (error) {
    throw error instanceof DirectoryInUseError ? new ConfigurationError(error.message) : error;
  }
};

const alone = async (dataDir: string): Promise<DirectoryLock> => {
  try {
    return await lockForService(dataDir);
  } catch (error) {
    throw error instanceof DirectoryInUseError ? new ConfigurationError(error.message) : error;
  }
};

const NO_LOCK: DirectoryLock = { close: async () => undefined };

/**
 * Keeps the data directory from being moved while it is used, and from a second service. With engines elsewhere only documents are
 * there: those stay, and any number of services may share them.
 * @throws ConfigurationError it was moved, so what it holds is no longer the truth, or is being moved now; or it is in use
 */
export const useDataDirectory = async (
  configuration: Configuration,
  part: RowOptions['part'],
): Promise<DirectoryLock> => {
  const { dataDir, engines } = configuration;
  const embedded = embeddedRows(configuration);
  const onlyDocuments = engines.eventStoreUrl !== undefined && engines.databaseUrl !== undefined;
  const lock = onlyDocuments ? NO_LOCK : share(dataDir);
  try {
    const mark = await readMigrationMarker(dataDir);
    const missing = embedded.filter((row) => mark?.rows.includes(row));
    if (mark && missing.length > 0) throw gone(dataDir, mark, missing);
    const service = onlyDocuments || part !== 'service' ? NO_LOCK : await alone(dataDir);
    return {
      close: async () => {
        await service.close();
        await lock.close();
      },
    };
  } catch (error) {
    await lock.close();
    throw error;
  }
};

/** @throws ConfigurationError a move into this database has not come to its end */
export const ensureMovedWhole = async (database: SqlDatabase): Promise<void> => {
  const move = await readMove(database);
  if (!move || move.finishedAt !== null) return;
  throw new ConfigurationError(
    `a service is being moved into this database since ${move.begunAt}: let \`receivables migrate\` finish first`,
  );
};
