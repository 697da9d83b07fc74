import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Logger } from '../../application/ports/logger.ts';
import packageJson from '../../package.json' with { type: 'json' };
import type { CliDependencies } from '../cli/command-line.ts';
import { BackupFailedError } from '../embedded/backup/manifest.ts';
import { restoreBackup } from '../embedded/backup/restore-backup.ts';
import { MASTER_KEY_FILE, writeBackup } from '../embedded/backup/write-backup.ts';
import {
  DirectoryInUseError,
  lockDirectory,
  lockForService,
  MOVED_FILE,
  readMigrationMarker,
} from '../embedded/directory-lock.ts';
import type { DirectoryLock, MigrationMarker, MovedRow } from '../embedded/directory-lock.ts';
import { readMove } from '../../application/maintenance/moving/move-record.ts';
import type { SqlDatabase } from '../../application/sql/sql-database.ts';
import { EVENT_LOG_FILE } from '../sqlite/event-log/event-log-threads.ts';
import { opening } from '../support/opening.ts';
import { closeToOthers, exposedFiles } from '../support/private-files.ts';
import { SystemClock } from '../support/time.ts';
import { readConfiguration } from './configuration.ts';
import type { Configuration } from './configuration.ts';
import type { Part } from './cache-shares.ts';
import { SERVICE_FILE, isOfService, missingPart, troubleWith } from './data-parts.ts';
import { keepsFiles } from './engines.ts';
import { ConfigurationError } from './environment-reader.ts';
import { isAllowed } from './insecurities.ts';

/** What may be moved to an engine of its own, and what tells that it was not. */
const ROWS: readonly {
  readonly row: MovedRow;
  readonly engine: keyof Configuration['engines'];
  readonly variable: string;
  readonly file?: string;
}[] = [
  { row: 'event store', engine: 'eventStoreUrl', variable: 'EVENTSTORE_URL', file: EVENT_LOG_FILE },
  { row: 'database', engine: 'databaseUrl', variable: 'DATABASE_URL', file: SERVICE_FILE },
  { row: 'documents', engine: 's3Url', variable: 'S3_URL' },
];

const embedded = ({ engines }: Configuration) => ROWS.filter(({ engine }) => engines[engine] === undefined);

/** @throws ConfigurationError this user may not look, so that it may well be there */
const isThere = ({ dataDir }: Configuration, file = ''): boolean => {
  try {
    return statSync(join(dataDir, file), { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    throw new ConfigurationError(troubleWith(error as NodeJS.ErrnoException), { cause: error });
  }
};

const missingFiles = (configuration: Configuration): string | undefined => {
  const part = missingPart(configuration);
  if (part !== undefined) return part;
  // Documents may be all that is here, and there may be none yet.
  const lacking = configuration.engines.s3Url === undefined && !isThere(configuration);
  return lacking ||
    embedded(configuration).some(({ file }) => file !== undefined && !isThere(configuration, file))
    ? `no service data in ${configuration.dataDir}; is DATA_DIR that of the service?`
    : undefined;
};

/** What keeps a command from opening the service of DATA_DIR, when something does. */
export const missingServiceData = (configuration: Configuration): string | undefined => {
  const { dataDir, masterKey } = configuration;
  const keyLacks = masterKey === undefined && !isThere(configuration, MASTER_KEY_FILE);
  const missing = missingFiles(configuration);
  if (missing !== undefined || !keyLacks) return missing;
  return `${dataDir} holds no master key; set DATA_DIR and MASTER_KEY to those of the service`;
};

const refuse = (missing: string | undefined): void => {
  if (missing !== undefined) throw new ConfigurationError(missing);
};

/** Only the service, `restore` and `migrate` make a data directory. @throws ConfigurationError nothing was made */
export const requireServiceData = (configuration: Configuration): void =>
  refuse(missingServiceData(configuration));

const gone = (dataDir: string, { state, at }: MigrationMarker, names: string): ConfigurationError => {
  return new ConfigurationError(
    state === 'moving'
      ? `${dataDir} is being moved to other engines since ${at}: let \`receivables migrate\` finish, or remove ${MOVED_FILE} there to go back`
      : `what ${dataDir} holds was moved to other engines at ${at}, and this copy is old: set ${names}`,
  );
};

const locked = async (lock: () => DirectoryLock | Promise<DirectoryLock>): Promise<DirectoryLock> => {
  try {
    return await lock();
  } catch (error) {
    throw error instanceof DirectoryInUseError ? new ConfigurationError(error.message) : error;
  }
};

const refuseMoved = async (configuration: Configuration): Promise<void> => {
  const { dataDir } = configuration;
  const mark = await readMigrationMarker(dataDir).catch((error: unknown) => {
    throw new ConfigurationError((error as Error).message, { cause: error });
  });
  const missing = embedded(configuration).filter(({ row }) => mark?.rows.includes(row));
  if (mark && missing.length > 0)
    throw gone(dataDir, mark, missing.map(({ variable }) => variable).join(', '));
};

/**
 * Keeps the data directory from being moved while it is used, and from a second service. With engines elsewhere only documents are
 * there: those stay, and any number of services may share them.
 * @throws ConfigurationError it was moved, so what it holds is no longer the truth, or is being moved now; or it is in use
 */
export const useDataDirectory = async (configuration: Configuration, part: Part): Promise<DirectoryLock> => {
  const { dataDir } = configuration;
  const files = keepsFiles(configuration);
  return opening(async (kept, close) => {
    if (files) kept(await locked(() => lockDirectory(dataDir, 'shared')));
    await refuseMoved(configuration);
    if (files && part === 'service') kept(await locked(() => lockForService(dataDir)));
    return { close };
  });
};

/** @throws ConfigurationError a move into this database has not come to its end */
export const ensureMovedWhole = async (database: SqlDatabase): Promise<void> => {
  const move = await readMove(database);
  if (!move || move.finishedAt !== null) return;
  throw new ConfigurationError(
    `a service is being moved into this database since ${move.begunAt}: let \`receivables migrate\` finish first`,
  );
};

/**
 * Makes the data directory its owner's alone. Where others could read it or a key in it, production refuses to start, because what
 * they read meanwhile cannot be taken back; a sandbox mends it, but for what is none of the service's.
 * @throws ConfigurationError
 */
export const keepPrivate = async (
  configuration: Pick<Configuration, 'dataDir' | 'environment' | 'allowInsecure'>,
  logger: Logger,
): Promise<void> => {
  const { dataDir, allowInsecure } = configuration;
  const exposed = allowInsecure.includes('files') ? undefined : await exposedFiles(dataDir, isOfService);
  if (!exposed) return;
  const { worst, open, foreign, mend } = exposed;
  if (worst !== undefined && !isAllowed(configuration, 'files')) {
    throw new ConfigurationError(
      `DATA_DIR lets others read ${worst}: ${mend}, or name files in ALLOW_INSECURE`,
    );
  }
  const isPrivate = await closeToOthers(dataDir, exposed);
  if (worst === undefined) return;
  if (isPrivate)
    logger.info({ dataDir, files: open.length }, 'others could read DATA_DIR; now its owner alone can');
  else if (foreign === undefined)
    logger.warn({ dataDir }, 'others can read DATA_DIR, and its modes cannot be changed');
  else
    logger.warn(
      { dataDir, foreign },
      "others can read DATA_DIR, which stays so because it holds what is none of the service's: name a directory of its own",
    );
};

const ENGINES_KEEP_THEIR_OWN =
  'backups of this command are for the embedded profile: engines of their own are backed up with their own tools';

/** What the command line needs to back up and to restore; nothing of the service is opened for it. */
export const backupsOf = (environment: NodeJS.ProcessEnv): NonNullable<CliDependencies['backups']> => ({
  write: async (request) => {
    const configuration = readConfiguration(environment);
    const { dataDir, engines } = configuration;
    if (engines.databaseUrl !== undefined || engines.eventStoreUrl !== undefined)
      throw new BackupFailedError(ENGINES_KEEP_THEIR_OWN);
    // It needs no key.
    refuse(missingFiles(configuration));
    await refuseMoved(configuration);
    const clock = new SystemClock();
    return writeBackup({
      ...request,
      dataDir,
      programVersion: packageJson.version,
      now: () => clock.realNow(),
    });
  },
  restore: ({ dataDir, ...request }) => restoreBackup({ ...request, dataDir: resolve(dataDir) }),
});
