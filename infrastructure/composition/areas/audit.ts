import { FindOperation } from '../../../application/administrator/find-operation.ts';
import { ShowOperation } from '../../../application/audit/show-operation.ts';
import { VerifyLog } from '../../../application/audit/verify-log.ts';
import type { ClaimLog } from '../../../application/ports/audit.ts';
import { BrokenSealBookError, SealLog } from '../../../application/seals/seal-log.ts';
import { catchUp } from '../../cli/catch-up.ts';
import type { AuditServices } from '../../cli/cli-services.ts';
import { DifferencesFoundError } from '../../cli/command-line.ts';
import { API_VERSION } from '../../http/openapi/version.ts';
import { DataKeyAnchorSigner, DataSealKeys } from '../../security/audit-keys.ts';
import { SqlAuditedRows } from '../../sql/read-models/audited-rows.ts';
import { SqlSealBook } from '../../sql/seal-book.ts';
import { SqlFrozenEvents } from '../../sql/webhooks/frozen-events.ts';
import { pause, throttled } from '../../support/time.ts';
import { SqliteAuditNotes } from '../../sqlite/audit-notes.ts';
import type { Foundations } from '../foundations.ts';
import { numberOf } from '../projections.ts';
import type { Adapters } from './adapters.ts';
import type { ReadModels } from './read-models.ts';

/** No request waits for a seal. */
const SEALER_PAUSE_MS = 100;

/** Seals over the whole log. */
export const sealArea = (
  { engines, configuration, realClock, logger, observability }: Foundations,
  { dataKeys }: Adapters,
) => {
  const book = new SqlSealBook(engines.serviceDatabase);
  const keys = new DataSealKeys(dataKeys);
  const sealLog = new SealLog({
    subscription: observability.follower('log-sealer', throttled(engines.eventStore, SEALER_PAUSE_MS)),
    book,
    keys,
    log: configuration.engines.eventStoreUrl === undefined ? 'embedded' : 'eventstoredb',
    clock: realClock,
    logger,
    sleep: pause,
  });
  return { book, keys, sealLog };
};

export type Seals = ReturnType<typeof sealArea>;

const isClaimLog = <Store extends object>(store: Store): store is Store & ClaimLog => 'claims' in store;

/** What the command line needs to audit. */
export const auditServices = (
  { engines, clock, realClock }: Foundations,
  { events, clientRegistry, dataKeys, vault }: Adapters,
  { projectors }: ReadModels,
  { book, keys, sealLog }: Seals,
): AuditServices => {
  const operations = new FindOperation({ registry: clientRegistry, events });
  return {
    verification: new VerifyLog({
      events,
      subscription: engines.eventStore,
      ...(isClaimLog(engines.eventStore) && { claimLog: engines.eventStore }),
      pause,
      rows: new SqlAuditedRows(engines.readModelDatabase),
      frozen: new SqlFrozenEvents(engines.serviceDatabase),
      auditing: { projections: engines.projections, apiVersion: API_VERSION },
      readModels: engines.projections.map(({ name, tables }) => ({
        name,
        tables,
        catchUp: async () => {
          const projector = projectors.find((one) => one.status().projection === name);
          if (projector) await catchUp(projector);
        },
      })),
      seals: { book, keys, numberOf },
      clock,
      sleep: pause,
    }),
    openNotes: (file) => new SqliteAuditNotes(file),
    operations: new ShowOperation({ events, vault }),
    signer: new DataKeyAnchorSigner(dataKeys),
    sealNow: async () => {
      try {
        return await sealLog.sealNow();
      } catch (error) {
        throw error instanceof BrokenSealBookError ? new DifferencesFoundError(error.message) : error;
      }
    },
    applicationOf: (code) => operations.applicationOf(code),
    now: () => realClock.realNow(),
  };
};
