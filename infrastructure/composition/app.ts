import { join } from 'node:path';
import { Audit } from '../../application/audit/audit.ts';
import { Clients } from '../../application/clients/clients.ts';
import { Desk } from '../../application/desk/desk.ts';
import { DeskSessions, sessionTokens, tokensContext } from '../../application/desk/sessions.ts';
import { Funds } from '../../application/funds/funds.ts';
import { loansOf } from '../../application/loans/loans.ts';
import type { Loans } from '../../application/loans/loans.ts';
import { Maintenance } from '../../application/maintenance/maintenance.ts';
import type { RotationResult } from '../../application/maintenance/master-key-rotation.ts';
import { Portfolio } from '../../application/portfolio/portfolio.ts';
import { Privacy } from '../../application/privacy/privacy.ts';
import { Reconciliation } from '../../application/reconciliation/reconciliation.ts';
import { secretContext, webhookSecrets } from '../../application/webhooks/subscriptions.ts';
import { loanProjection } from '../../projections/loan/loan-projection.ts';
import { lockFile } from '../embedded/directory-lock.ts';
import { API_VERSION } from '../http/openapi/version.ts';
import { DataKeyAnchorSigner, sealKeysIn } from '../security/audit-keys.ts';
import { issueCredentials } from '../security/client-secrets.ts';
import { rotateKeys, rotatedKeys } from '../security/master-key-rotation.ts';
import { dropPreviousKey, renewKeyFile } from '../security/master-key.ts';
import { SqliteAuditNotes } from '../sqlite/audit-notes.ts';
import { emptyWriteAheadLog } from '../sqlite/connection.ts';
import { LineAMinute } from '../support/line-a-minute.ts';
import { pause, throttled, within } from '../support/time.ts';
import { SERVICE_FILE } from './data-parts.ts';
import type { Parts } from './parts.ts';
import { logOrder, toProjected, rebuildOf } from './read-models.ts';
import { enginesOf, findService } from './readiness.ts';

/** No request waits for a seal. */
const SEALER_PAUSE_MS = 100;

const FILE_MISSING =
  'the stored file of a document is missing, and its reader was answered 404: put it back from a backup; `receivables audit verify --documents` names every one that is missing';

/** How each module that the doors call is made, but for those that a file of its own makes. */
export const MODULES = {
  audit: (parts: Parts) =>
    new Audit({
      readModelDatabase: parts.readModelDatabase,
      serviceDatabase: parts.serviceDatabase,
      clock: parts.clock,
      realClock: parts.realClock,
      logger: parts.logger,
      projections: parts.generations.projections,
      log: parts.eventStore,
      toSeal: () => parts.observability.follower('log-sealer', throttled(parts.eventStore, SEALER_PAUSE_MS)),
      kind: parts.configuration.engines.eventStoreUrl === undefined ? 'embedded' : 'eventstoredb',
      readModels: () => parts.readModels.all,
      apiVersion: API_VERSION,
      sandbox: parts.configuration.environment === 'sandbox',
      sealKeys: sealKeysIn(parts.keys.dataKeys),
      signer: new DataKeyAnchorSigner(parts.keys.dataKeys),
      vault: parts.vault,
      documents: parts.documents.store,
      openNotes: (file) => new SqliteAuditNotes(file),
      sleep: pause,
    }),
  clients: ({ clientRegistry: registry, formats, realClock: clock, signingKeys }: Parts) =>
    new Clients({ registry, issue: () => issueCredentials(formats), clock, formats, signingKeys }),
  desk: (parts: Parts) => {
    const { clock, formats, logger, keys } = parts;
    return new Desk({
      events: parts.eventStore,
      readModel: parts.readModelDatabase,
      ...{ formats, clock, pause, logger },
      sessions: new DeskSessions({
        database: parts.serviceDatabase,
        clock: parts.realClock,
        seal: async (text, context) => {
          await keys.masterKeys.refresh();
          return keys.masterKeys.wrap('desk-sessions', text, context);
        },
        open: (sealed, context) => keys.masterKeys.unwrap('desk-sessions', sealed, context),
        pause,
      }),
    });
  },
  funds: (parts: Parts): Funds =>
    new Funds({
      events: parts.eventStore,
      formats: parts.formats,
      clients: () => parts.clients,
      loans: () => parts.loans,
      clock: parts.clock,
      pause,
    }),
  loans: (parts: Parts): Loans => {
    const { store: documents, inspector } = parts.documents;
    const { caughtUp, progress } = parts.readModels;
    const missing = new LineAMinute((fields) => parts.logger.error(fields, FILE_MISSING));
    return loansOf({
      commands: parts.commands,
      events: parts.eventStore,
      vault: parts.vault,
      documents,
      inspector,
      clock: parts.clock,
      database: parts.readModelDatabase,
      progress,
      writes: parts.ownWrites,
      registry: parts.clientRegistry,
      catchUp: caughtUp,
      onFileMissing: (file) => missing.note('file', { event: 'file_missing', ...file }),
      privacy: () => parts.privacy,
    });
  },
  maintenance: (parts: Parts): Maintenance => {
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
      webhooks: () => parts.webhooks,
      sandboxClock: parts.sandboxClock,
      rotateMasterKey: () => rotateMasterKey(parts),
      findService: () => findService(parts),
      engines: () => enginesOf(parts),
    });
  },
  portfolio: (parts: Parts): Portfolio =>
    new Portfolio({
      database: parts.readModelDatabase,
      caughtUp: parts.readModels.caughtUp,
      place: () => parts.projectionStore.checkpoint(loanProjection),
      privacy: () => parts.privacy,
      documentsOf: (streams) => parts.loans.search.documentsOf(streams),
      clock: parts.clock,
    }),
  privacy: (parts: Parts) =>
    new Privacy({
      commands: parts.commands,
      ...{ events: parts.eventStore, log: parts.eventStore, pause },
      checkpoints: parts.checkpoints,
      index: parts.borrowerIndex,
      keys: parts.operationKeys,
      documents: parts.documents.store,
      vault: parts.vault,
      clock: parts.clock,
      realClock: parts.realClock,
      // PostgreSQL overwrites what was deleted in its own time (vacuum, recycled log).
      scrub: async () =>
        parts.serviceDatabase.dialect === 'sqlite'
          ? emptyWriteAheadLog(join(parts.configuration.dataDir, SERVICE_FILE))
          : undefined,
    }),
  reconciliation: (parts: Parts) =>
    new Reconciliation({
      database: parts.readModelDatabase,
      caughtUp: parts.readModels.caughtUp,
      text: async () => ({
        ...(await import('../statements/csv-statements.ts')),
        ...(await import('../statements/statement-preview.ts')),
      }),
    }),
};

const ROTATING_FILE = 'rotating.db';

/** To the key of the variables; a key in the data directory gives way to a new one there, by one command at a time. */
export const rotateMasterKey = async ({
  configuration,
  keyStore,
  keys: { masterKeys },
  serviceDatabase,
}: Parts): Promise<RotationResult> => {
  const secrets = {
    texts: webhookSecrets(serviceDatabase),
    purposeOf: () => 'webhook-secrets' as const,
    contextOf: secretContext,
  };
  const sessions = {
    texts: sessionTokens(serviceDatabase),
    purposeOf: () => 'desk-sessions' as const,
    contextOf: tokensContext,
  };
  const places = [rotatedKeys(keyStore), secrets, sessions];
  const rotate = () => rotateKeys(keyStore, masterKeys, places);
  if (configuration.masterKey) return rotate();
  const { dataDir } = configuration;
  const lock = lockFile(join(dataDir, ROTATING_FILE), 'alone');
  if (!lock) throw new Error(`the master key in ${dataDir} is being rotated already`);
  try {
    await renewKeyFile(dataDir);
    masterKeys.reload();
    const result = await rotate();
    await dropPreviousKey(dataDir);
    return result;
  } finally {
    await lock.close();
  }
};
