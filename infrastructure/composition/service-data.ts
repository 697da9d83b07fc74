import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { MASTER_KEY_FILE } from '../embedded/backup/write-backup.ts';
import { EVENT_LOG_FILE } from '../sqlite/event-log/event-log-threads.ts';
import type { Configuration } from './configuration.ts';
import { SERVICE_FILE } from './engine-rows.ts';
import { ConfigurationError } from './environment-reader.ts';

/** What a service that has been here left behind, as far as it keeps things here. */
const tracesOf = ({ engines }: Configuration): readonly string[] => [
  ...(engines.eventStoreUrl === undefined ? [EVENT_LOG_FILE] : []),
  ...(engines.databaseUrl === undefined ? [SERVICE_FILE] : []),
];

const isThere = ({ dataDir }: Configuration, file = ''): boolean => existsSync(join(dataDir, file));

const missingFiles = (configuration: Configuration): string | undefined => {
  // Documents may be all that is here, and there may be none yet.
  const lacking = configuration.engines.s3Url === undefined && !isThere(configuration);
  return lacking || tracesOf(configuration).some((file) => !isThere(configuration, file))
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

/** The same for what needs no key. */
export const requireServiceFiles = (configuration: Configuration): void =>
  refuse(missingFiles(configuration));
