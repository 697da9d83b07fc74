import { join } from 'node:path';
import { FindOperation } from '../../../application/administrator/find-operation.ts';
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
  adapters: Adapters,
  { handler: commands }: Commands,
  { store: documents }: Documents,
): PrivacyServices => {
  const { dialect } = engines.serviceDatabase;
  const {
    events,
    clientRegistry,
    checkpoints,
    vault,
    quietVault,
    borrowerIndex: index,
    operationKeys,
  } = adapters;
  const operations = new FindOperation({ registry: clientRegistry, events });
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
    applicationOf: (code) => operations.applicationOf(code),
    // PostgreSQL overwrites what was deleted in its own time (vacuum, recycled log).
    scrub: async () =>
      dialect === 'sqlite' ? emptyWriteAheadLog(join(configuration.dataDir, SERVICE_FILE)) : undefined,
  };
};
