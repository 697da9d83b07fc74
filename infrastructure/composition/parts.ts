import type { App } from '../../application/app.ts';
import type { ReadModel } from '../../application/audit/settled-rows.ts';
import type { SqlClientRegistry } from '../../application/clients/client-registry.ts';
import type { CommandHandler } from '../../application/command-handling/command-handler.ts';
import type { KeptOperations } from '../../application/command-handling/kept-operations.ts';
import type { SqlLeases } from '../../application/coordination/leases.ts';
import type { SqlCheckpointStore } from '../../application/coordination/stored-places.ts';
import type { AppliedVersions, OwnWrites } from '../../application/loans/read-model-progress.ts';
import type { SandboxClock } from '../../application/maintenance/sandbox/sandbox-clock.ts';
import type { SqlBorrowerIndex } from '../../application/privacy/borrower-index.ts';
import type { SqlProjectionStore } from '../../application/projecting/projection-store.ts';
import type { ReadModelFollower } from '../../application/projecting/read-model.ts';
import type { RelayQuarantine } from '../../application/publication/relay.ts';
import type { FileDocumentInspector } from '../documents/file-document-inspector.ts';
import type { SealedDocumentStore } from '../documents/sealed-document-store.ts';
import type { JwtTokens } from '../security/jwt-tokens.ts';
import type { OperationKeys } from '../security/operation-keys.ts';
import type { SealedBorrowerVault } from '../security/sealed-borrower-vault.ts';
import type { TokenSigningKeys } from '../security/token-signing-keys.ts';
import type { WebhookWorker } from '../webhooks/webhook-worker.ts';
import type { Foundations } from './foundations.ts';

/** What a thread of the service consists of, with what the doors call: each part is made once, when it is first asked for. */
export interface Parts extends Foundations, App {
  readonly checkpoints: SqlCheckpointStore;
  readonly leases: SqlLeases;
  readonly clientRegistry: SqlClientRegistry;
  readonly relayQuarantine: RelayQuarantine;
  readonly projectionStore: SqlProjectionStore;
  readonly operationKeys: OperationKeys;
  readonly borrowerIndex: SqlBorrowerIndex;
  readonly vault: SealedBorrowerVault;
  readonly documents: {
    readonly store: SealedDocumentStore;
    readonly inspector: FileDocumentInspector;
    close(): void;
  };
  readonly readModels: {
    /** Resolves when operations are read as everything that was stored before the call leaves them. @throws Error when it cannot */
    readonly caughtUp: () => Promise<void>;
    /** The same of each read model. */
    readonly all: readonly ReadModel[];
    readonly projectors: readonly ReadModelFollower[];
    readonly progress: AppliedVersions;
  };
  readonly ownWrites: OwnWrites;
  readonly keptOperations: KeptOperations;
  readonly commands: CommandHandler;
  readonly relay: ReturnType<App['publication']['relay']>;
  /** What sends is made when it is asked for, and woken only where it is there. */
  readonly sending: { readonly webhooks: App['webhooks']; readonly worker: WebhookWorker };
  /** What acts on operations by itself, in the course of time or after an event. */
  readonly scheduling: {
    readonly overdue: (signal: AbortSignal) => Promise<void>;
    readonly recovery: ReturnType<App['renegotiation']['recovery']>;
    readonly completion: ReturnType<App['renegotiation']['completion']>;
  };
  readonly signingKeys: TokenSigningKeys;
  readonly tokens: JwtTokens;
  /** Undefined in production. */
  readonly sandboxClock: SandboxClock | undefined;
}
