import type { Parts } from './parts.ts';
import { join } from 'node:path';
import type { App } from '../../application/app.ts';
import { Audit } from '../../application/audit/audit.ts';
import { Clients } from '../../application/clients/clients.ts';
import { Desk } from '../../application/desk/desk.ts';
import { DeskSessions } from '../../application/desk/sessions.ts';
import { Funds } from '../../application/funds/funds.ts';
import { loansOf } from '../../application/loans/loans.ts';
import { Maintenance } from '../../application/maintenance/maintenance.ts';
import { Portfolio } from '../../application/portfolio/portfolio.ts';
import { Privacy } from '../../application/privacy/privacy.ts';
import { Reconciliation } from '../../application/reconciliation/reconciliation.ts';
import { loanProjection } from '../../projections/loan/loan-projection.ts';
import { API_VERSION } from '../http/openapi/version.ts';
import { DataKeyAnchorSigner, sealKeysIn } from '../security/audit-keys.ts';
import { issueCredentials } from '../security/client-secrets.ts';
import { SqliteAuditNotes } from '../sqlite/audit-notes.ts';
import { emptyWriteAheadLog } from '../sqlite/connection.ts';
import { LineAMinute } from '../support/line-a-minute.ts';
import { pause, throttled, within } from '../support/time.ts';
import { SERVICE_FILE } from './data-parts.ts';
import { enginesOf, findService } from './maintenance/found-service.ts';
import { rotateMasterKey } from './maintenance/rotate-master-key.ts';
import { logOrder, toProjected } from './projections.ts';
import { rebuildOf } from './serving-generation.ts';

/** No request waits for a seal. */
const SEALER_PAUSE_MS = 100;

const maintenanceOf = (parts: Parts): Maintenance => {
  const { eventStore: log, generations, serviceDatabase, readModelDatabase } = parts;
  const { projectionStore, checkpoints, relayQuarantine, formats } = parts;
  return new Maintenance({
    ...{ log, generations, serviceDatabase, readModelDatabase },
    ...{ projectionStore, checkpoints, relayQuarantine, formats },
    order: logOrder,
    within,
    decode: toProjected,
    rebuilding: () => rebuildOf({ log, generations }),
    renegotiation: () => parts.renegotiation,
    actors: () => [parts.scheduling.completion, ...[parts.administrator.sandbox ?? []].flat()],
    webhooks: () => parts.webhooks.webhooks,
    sandboxClock: parts.sandboxClock,
    rotateMasterKey: () => rotateMasterKey(parts),
    findService: () => findService(parts),
    engines: () => enginesOf(parts),
  });
};

const FILE_MISSING =
  'the stored file of a document is missing, and its reader was answered 404: put it back from a backup; `receivables audit verify --documents` names every one that is missing';

/** How each module of the service is made, out of the parts and of what the other modules are when they are asked. */
export const modulesOf = (parts: Parts): { readonly [Name in keyof App]: (app: App) => App[Name] } => {
  const { configuration, keys, clock, realClock, logger, observability } = parts;
  const { eventStore, generations, readModelDatabase, serviceDatabase } = parts;
  return {
    administrator: () => parts.administrator,
    audit: () =>
      new Audit({
        ...{ readModelDatabase, serviceDatabase, clock, realClock, logger },
        projections: generations.projections,
        log: eventStore,
        toSeal: () => observability.follower('log-sealer', throttled(eventStore, SEALER_PAUSE_MS)),
        kind: configuration.engines.eventStoreUrl === undefined ? 'embedded' : 'eventstoredb',
        readModels: () => parts.readModels.all,
        apiVersion: API_VERSION,
        sandbox: configuration.environment === 'sandbox',
        sealKeys: sealKeysIn(parts.dataKeys),
        signer: new DataKeyAnchorSigner(parts.dataKeys),
        vault: parts.vault,
        documents: parts.documents.store,
        openNotes: (file) => new SqliteAuditNotes(file),
        sleep: pause,
      }),
    clients: () =>
      new Clients({
        registry: parts.clientRegistry,
        issue: () => issueCredentials(parts.formats),
        clock: realClock,
        formats: parts.formats,
        signingKeys: parts.signingKeys,
      }),
    desk: () =>
      new Desk({
        events: eventStore,
        readModel: readModelDatabase,
        formats: parts.formats,
        ...{ clock, pause, logger },
        sessions: new DeskSessions({
          database: serviceDatabase,
          clock: realClock,
          seal: async (text, context) => {
            await keys.masterKeys.refresh();
            return keys.masterKeys.wrap('desk-sessions', text, context);
          },
          open: (sealed, context) => keys.masterKeys.unwrap('desk-sessions', sealed, context),
          pause,
        }),
      }),
    funds: (app) =>
      new Funds({
        events: eventStore,
        formats: parts.formats,
        clients: () => app.clients,
        loans: () => app.loans,
        ...{ clock, pause },
      }),
    loans: (app) => {
      const { store: documents, inspector } = parts.documents;
      const { caughtUp, progress } = parts.readModels;
      const missing = new LineAMinute((fields) => logger.error(fields, FILE_MISSING));
      return loansOf({
        commands: parts.commands,
        events: eventStore,
        vault: parts.vault,
        documents,
        inspector,
        clock,
        database: readModelDatabase,
        progress,
        writes: parts.ownWrites,
        registry: parts.clientRegistry,
        catchUp: caughtUp,
        onFileMissing: (file) => missing.note('file', { event: 'file_missing', ...file }),
        privacy: () => app.privacy,
      });
    },
    maintenance: () => maintenanceOf(parts),
    portfolio: (app) =>
      new Portfolio({
        database: readModelDatabase,
        caughtUp: parts.readModels.caughtUp,
        place: () => parts.projectionStore.checkpoint(loanProjection),
        privacy: () => app.privacy,
        documentsOf: (streams) => app.loans.search.documentsOf(streams),
        clock,
      }),
    privacy: () =>
      new Privacy({
        commands: parts.commands,
        log: eventStore,
        checkpoints: parts.checkpoints,
        index: parts.borrowerIndex,
        keys: parts.operationKeys,
        documents: parts.documents.store,
        vault: parts.vault,
        ...{ clock, realClock },
        // PostgreSQL overwrites what was deleted in its own time (vacuum, recycled log).
        scrub: async () =>
          serviceDatabase.dialect === 'sqlite'
            ? emptyWriteAheadLog(join(configuration.dataDir, SERVICE_FILE))
            : undefined,
      }),
    publication: () => parts.publication,
    reconciliation: () =>
      new Reconciliation({
        database: readModelDatabase,
        caughtUp: parts.readModels.caughtUp,
        text: async () => ({
          ...(await import('../statements/csv-statements.ts')),
          ...(await import('../statements/statement-preview.ts')),
        }),
      }),
    renegotiation: () => parts.renegotiation,
    webhooks: () => parts.webhooks.webhooks,
  };
};
