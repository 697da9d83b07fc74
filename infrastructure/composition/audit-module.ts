import type { Container } from 'inversify';
import { FindOperation } from '../../application/administrator/find-operation.ts';
import { ShowOperation } from '../../application/audit/show-operation.ts';
import { VerifyLog } from '../../application/audit/verify-log.ts';
import { BrokenSealBookError } from '../../application/seals/seal-log.ts';
import type { Projection } from '../../projections/engine/projection.ts';
import { loanProjection } from '../../projections/loan/loan-projection.ts';
import { portfolioProjection } from '../../projections/portfolio/portfolio-projection.ts';
import { reconciliationProjection } from '../../projections/reconciliation/reconciliation-projection.ts';
import { catchUp } from '../cli/catch-up.ts';
import type { AuditServices } from '../cli/cli-services.ts';
import { DifferencesFoundError } from '../cli/command-line.ts';
import { API_VERSION } from '../http/openapi/version.ts';
import { DataKeyAnchorSigner } from '../security/audit-keys.ts';
import { SqlAuditedRows } from '../sql/read-models/audited-rows.ts';
import { SqlFrozenEvents } from '../sql/webhooks/events.ts';
import { pause } from '../support/time.ts';
import { numberOf } from './log-numbers.ts';
import { TOKENS } from './tokens.ts';

const projections: readonly Projection[] = [loanProjection, reconciliationProjection, portfolioProjection];

/** What the command line needs to audit. */
export const auditServices = (container: Container): AuditServices => {
  const events = container.get(TOKENS.eventStore);
  const clock = container.get(TOKENS.clock);
  const projectors = [container.get(TOKENS.loanProjector), ...container.get(TOKENS.fundSideProjectors)];
  const operations = new FindOperation({ registry: container.get(TOKENS.clientRegistry), events });
  return {
    verification: new VerifyLog({
      events,
      subscription: container.get(TOKENS.eventSubscription),
      rows: new SqlAuditedRows(container.get(TOKENS.readModelDatabase)),
      frozen: new SqlFrozenEvents(container.get(TOKENS.serviceDatabase)),
      auditing: { projections, apiVersion: API_VERSION },
      readModels: projections.map(({ name, tables }) => ({
        name,
        tables,
        catchUp: async () => {
          const projector = projectors.find((one) => one.status().projection === name);
          if (projector) await catchUp(projector);
        },
      })),
      seals: { book: container.get(TOKENS.sealBook), keys: container.get(TOKENS.sealKeys), numberOf },
      clock,
      sleep: pause,
    }),
    operations: new ShowOperation({ events, vault: container.get(TOKENS.borrowerVault) }),
    signer: new DataKeyAnchorSigner(container.get(TOKENS.dataKeys)),
    sealNow: async () => {
      try {
        return await container.get(TOKENS.sealLog).sealNow();
      } catch (error) {
        throw error instanceof BrokenSealBookError ? new DifferencesFoundError(error.message) : error;
      }
    },
    applicationOf: (code) => operations.applicationOf(code),
    now: () => container.get(TOKENS.realClock).realNow(),
  };
};
