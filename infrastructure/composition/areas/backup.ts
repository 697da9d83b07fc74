import { resolve } from 'node:path';
import packageJson from '../../../package.json' with { type: 'json' };
import type { BackupServices } from '../../cli/cli-services.ts';
import { BackupFailedError } from '../../embedded/backup/manifest.ts';
import { restoreBackup } from '../../embedded/backup/restore-backup.ts';
import { writeBackup } from '../../embedded/backup/write-backup.ts';
import { SystemClock } from '../../support/time.ts';
import { readConfiguration } from '../configuration.ts';
import { requireServiceFiles } from '../data-directory.ts';

const ENGINES_KEEP_THEIR_OWN =
  'backups of this command are for the embedded profile: engines of their own are backed up with their own tools';

/** What the command line needs to back up and to restore; nothing of the service is opened for it. */
export const backupServices = (environment: NodeJS.ProcessEnv): BackupServices => ({
  write: async (request) => {
    const configuration = readConfiguration(environment);
    const { dataDir, engines } = configuration;
    if (engines.databaseUrl !== undefined || engines.eventStoreUrl !== undefined)
      throw new BackupFailedError(ENGINES_KEEP_THEIR_OWN);
    requireServiceFiles(configuration);
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
