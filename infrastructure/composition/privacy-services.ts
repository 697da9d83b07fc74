import { join } from 'node:path';
import type { Container } from 'inversify';
import { ForgetBorrower } from '../../application/privacy/forget-borrower.ts';
import { IndexBorrowers } from '../../application/privacy/index-borrowers.ts';
import type { PrivacyServices } from '../cli/cli-services.ts';
import { emptyWriteAheadLog } from '../sqlite/connection.ts';
import { SERVICE_FILE } from './engine-rows.ts';
import { TOKENS } from './tokens.ts';

/** What the command line needs to forget a borrower. */
export const privacyServices = (container: Container): PrivacyServices => {
  const vault = container.get(TOKENS.borrowerVault);
  const index = container.get(TOKENS.borrowerIndex);
  const { dataDir } = container.get(TOKENS.configuration);
  const { dialect } = container.get(TOKENS.serviceDatabase);
  return {
    indexing: new IndexBorrowers({
      subscription: container.get(TOKENS.eventSubscription),
      checkpoints: container.get(TOKENS.checkpoints),
      vault,
      index,
    }),
    forgetting: new ForgetBorrower({
      commands: container.get(TOKENS.commands),
      index,
      keys: container.get(TOKENS.operationKeys),
      documents: container.get(TOKENS.documents),
      vault,
      clock: container.get(TOKENS.clock),
      realClock: container.get(TOKENS.realClock),
    }),
    // PostgreSQL overwrites what was deleted in its own time (vacuum, recycled log).
    scrub: async () => (dialect === 'sqlite' ? emptyWriteAheadLog(join(dataDir, SERVICE_FILE)) : undefined),
  };
};
