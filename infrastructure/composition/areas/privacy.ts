import { join } from 'node:path';
import { ForgetBorrower } from '../../../application/privacy/forget-borrower.ts';
import { IndexBorrowers } from '../../../application/privacy/index-borrowers.ts';
import type { PrivacyServices } from '../../cli/cli-services.ts';
import { emptyWriteAheadLog } from '../../sqlite/connection.ts';
import { SERVICE_FILE } from '../engine-rows.ts';
import type { Foundations } from '../foundations.ts';
import type { Adapters } from './adapters.ts';
import type { Commands } from './loans.ts';
import type { Documents } from './documents.ts';

/** What the command line needs to forget a borrower. */
export const privacyServices = (
  { engines, configuration, clock, realClock }: Foundations,
  { checkpoints, quietVault, vault, borrowerIndex: index, operationKeys }: Adapters,
  { handler: commands }: Commands,
  { store: documents }: Documents,
): PrivacyServices => {
  const { dialect } = engines.serviceDatabase;
  return {
    indexing: new IndexBorrowers({ subscription: engines.eventStore, checkpoints, vault, index }),
    forgetting: new ForgetBorrower({
      commands,
      index,
      keys: operationKeys,
      documents,
      // To give up a lost key is to know of it.
      vault: quietVault,
      clock,
      realClock,
    }),
    // PostgreSQL overwrites what was deleted in its own time (vacuum, recycled log).
    scrub: async () =>
      dialect === 'sqlite' ? emptyWriteAheadLog(join(configuration.dataDir, SERVICE_FILE)) : undefined,
  };
};
