import type { ServiceIdentifier } from 'inversify';
import type { DecisionDesk } from '../../application/administrator/decision-desk.ts';
import type { AdministratorDecisions } from '../../application/administrator/decisions.ts';
import type { SandboxAdministrator } from '../../application/administrator/sandbox-administrator.ts';
import type { ClientDirectory } from '../../application/clients/client-directory.ts';
import type { CreateClient } from '../../application/clients/create-client.ts';
import type { CommandHandler, OperationCache } from '../../application/command-handling/command-handler.ts';
import type { AddDocuments } from '../../application/loans/add-documents.ts';
import type { AssignLoan } from '../../application/loans/assign-loan.ts';
import type { ProcessPrepayment } from '../../application/loans/process-prepayment.ts';
import type { Quotes } from '../../application/loans/quotes.ts';
import type { OwnWrites } from '../../application/loans/own-writes.ts';
import type { LoanReading, ReadModelProgress } from '../../application/loans/read-loan.ts';
import type { RequestRepurchase } from '../../application/loans/request-repurchase.ts';
import type { SettleInstallment } from '../../application/loans/settle-installment.ts';
import type { BorrowerIndex, BorrowerVault } from '../../application/ports/borrower-vault.ts';
import type { CheckpointStore, Leases } from '../../application/ports/coordination.ts';
import type { ClientAuthenticator, ClientRegistry } from '../../application/ports/clients.ts';
import type { BusinessClock, RealClock } from '../../application/ports/clock.ts';
import type { DocumentInspector } from '../../application/ports/document-store.ts';
import type { DueInstallments, LoanReader } from '../../application/ports/loan-queries.ts';
import type { EventBus, RelayQuarantine } from '../../application/ports/event-bus.ts';
import type { Generations, ProjectionStore } from '../../application/ports/read-models.ts';
import type { EventStore, EventSubscription } from '../../application/ports/event-store.ts';
import type { KeyStore } from '../../application/ports/key-store.ts';
import type { StoredFormats } from '../../application/ports/stored-formats.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { SealBook, SealKeys } from '../../application/ports/audit.ts';
import type { CompleteRenegotiations } from '../../application/renegotiation/complete-renegotiations.ts';
import type { ShowPortfolio } from '../../application/portfolio/show-portfolio.ts';
import type { ReconcileStatement } from '../../application/reconciliation/reconcile-statement.ts';
import type { RecoverRenegotiations } from '../../application/renegotiation/recover-renegotiations.ts';
import type { RenegotiateLoans } from '../../application/renegotiation/renegotiate-loans.ts';
import type { RenegotiationParts } from '../../application/renegotiation/renegotiation-parts.ts';
import type { EventStream } from '../../application/publishing/event-stream.ts';
import type { OutboxRelay } from '../../application/publishing/outbox-relay.ts';
import type { MovableClock } from '../../application/sandbox/movable-clock.ts';
import type { SandboxClock } from '../../application/sandbox/sandbox-clock.ts';
import type { SealLog } from '../../application/seals/seal-log.ts';
import type { OverdueScheduler } from '../../application/scheduling/overdue-scheduler.ts';
import type { PdfChecker } from '../documents/pdf-checker.ts';
import type { RateLimiter } from '../http/limits/rate-limiter.ts';
import type { JwtTokens } from '../security/jwt-tokens.ts';
import type { OperationKeys } from '../security/operation-keys.ts';
import type { TokenSigningKeys } from '../security/token-signing-keys.ts';
import type { WrappedKeys } from '../security/wrapped-keys.ts';
import type { SqlDatabase } from '../sql/sql-database.ts';
import type { Configuration } from './configuration.ts';
import type { Documents } from './documents.ts';
import type { Observability } from './observability.ts';
import type { LoanProjector } from './read-side.ts';
import type { Roles } from './running-roles.ts';
import type { ServiceKeys } from './service-keys.ts';
import type { WebhookSide } from './webhook-side.ts';

export type OnQueued = (webhookIds: readonly string[]) => void;

const token = <T>(name: string): ServiceIdentifier<T> => Symbol(name);

/** Names of what the container makes; one token a thing. */
export const TOKENS = {
  configuration: token<Configuration>('configuration'),
  logger: token<Logger>('logger'),
  observability: token<Observability>('observability'),
  onQueued: token<OnQueued | undefined>('onQueued'),
  clock: token<BusinessClock>('clock'),
  realClock: token<RealClock>('realClock'),
  movableClock: token<MovableClock | undefined>('movableClock'),
  sandboxClock: token<SandboxClock | undefined>('sandboxClock'),
  keys: token<ServiceKeys>('keys'),

  eventStore: token<EventStore>('eventStore'),
  eventSubscription: token<EventSubscription>('eventSubscription'),
  eventBus: token<EventBus>('eventBus'),
  /** Subscriptions, deliveries, clients, keys, checkpoints. */
  serviceDatabase: token<SqlDatabase>('serviceDatabase'),
  /** Read models: can be deleted and built again. */
  readModelDatabase: token<SqlDatabase>('readModelDatabase'),
  generations: token<Generations>('generations'),

  storedFormats: token<StoredFormats>('storedFormats'),
  keyStore: token<KeyStore>('keyStore'),
  relayQuarantine: token<RelayQuarantine>('relayQuarantine'),
  checkpoints: token<CheckpointStore>('checkpoints'),
  clientRegistry: token<ClientRegistry>('clientRegistry'),
  projectionStore: token<ProjectionStore>('projectionStore'),
  loanReader: token<LoanReader>('loanReader'),
  dueInstallments: token<DueInstallments>('dueInstallments'),

  borrowerIndex: token<BorrowerIndex>('borrowerIndex'),
  operationKeys: token<OperationKeys>('operationKeys'),
  borrowerVault: token<BorrowerVault>('borrowerVault'),
  documents: token<Documents>('documents'),
  pdfChecker: token<PdfChecker>('pdfChecker'),
  inspector: token<DocumentInspector>('inspector'),
  signingKeys: token<TokenSigningKeys>('signingKeys'),
  tokens: token<JwtTokens>('tokens'),
  authenticator: token<ClientAuthenticator>('authenticator'),

  operationCache: token<OperationCache>('operationCache'),
  commands: token<CommandHandler>('commands'),
  assignLoan: token<AssignLoan>('assignLoan'),
  settleInstallment: token<SettleInstallment>('settleInstallment'),
  processPrepayment: token<ProcessPrepayment>('processPrepayment'),
  requestRepurchase: token<RequestRepurchase>('requestRepurchase'),
  quotes: token<Quotes>('quotes'),
  addDocuments: token<AddDocuments>('addDocuments'),
  loanReading: token<LoanReading>('loanReading'),
  ownWrites: token<OwnWrites>('ownWrites'),
  clientDirectory: token<ClientDirectory>('clientDirectory'),
  createClient: token<CreateClient>('createClient'),
  decisions: token<AdministratorDecisions>('decisions'),
  decisionDesk: token<DecisionDesk>('decisionDesk'),
  eventStream: token<EventStream>('eventStream'),
  sandboxAdministrator: token<SandboxAdministrator>('sandboxAdministrator'),
  overdueScheduler: token<OverdueScheduler>('overdueScheduler'),

  renegotiationParts: token<RenegotiationParts>('renegotiationParts'),
  renegotiateLoans: token<RenegotiateLoans>('renegotiateLoans'),
  recoverRenegotiations: token<RecoverRenegotiations>('recoverRenegotiations'),
  completeRenegotiations: token<CompleteRenegotiations>('completeRenegotiations'),

  dataKeys: token<WrappedKeys>('dataKeys'),
  sealKeys: token<SealKeys>('sealKeys'),
  sealBook: token<SealBook>('sealBook'),
  sealLog: token<SealLog>('sealLog'),

  leases: token<Leases>('leases'),
  readModelProgress: token<ReadModelProgress>('readModelProgress'),
  rateLimiter: token<RateLimiter>('rateLimiter'),
  /** Only in a service: a command has none. */
  roles: token<Roles>('roles'),

  loanProjector: token<LoanProjector>('loanProjector'),
  /** Of the read models that only reports read. */
  fundSideProjectors: token<readonly LoanProjector[]>('fundSideProjectors'),
  reconcileStatement: token<ReconcileStatement>('reconcileStatement'),
  showPortfolio: token<ShowPortfolio>('showPortfolio'),
  relay: token<OutboxRelay>('relay'),
  webhookSide: token<WebhookSide>('webhookSide'),
} as const;
