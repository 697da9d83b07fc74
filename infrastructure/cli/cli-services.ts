import type { DecisionAnswer } from '../../application/administrator/decision-desk.ts';
import type { FindOperation } from '../../application/administrator/find-operation.ts';
import type { ShowOperation } from '../../application/audit/show-operation.ts';
import type { VerifyLog } from '../../application/audit/verify-log.ts';
import type { CreateClient } from '../../application/clients/create-client.ts';
import type { FollowerPlaces } from '../../application/coordination/follower-places.ts';
import type { ListClients, RevokeClient, UpdateClient } from '../../application/clients/manage-clients.ts';
import type { ShowPortfolio } from '../../application/portfolio/show-portfolio.ts';
import type { AnchorSigner, AuditNotes } from '../../application/ports/audit.ts';
import type { ReceivedDecision } from '../../application/ports/decision-source.ts';
import type { PublicEvent } from '../../application/ports/event-bus.ts';
import type { Statements } from '../../application/ports/fund-reports.ts';
import type { OperationStates, StateCount } from '../../application/ports/loan-queries.ts';
import type { GenerationState, ProjectionPlace, RowDifference } from '../../application/ports/read-models.ts';
import type { StoredFormats } from '../../application/ports/stored-formats.ts';
import type { ForgetBorrower } from '../../application/privacy/forget-borrower.ts';
import type { IndexBorrowers } from '../../application/privacy/index-borrowers.ts';
import type { EventStream } from '../../application/publishing/event-stream.ts';
import type { QuarantinedOperations } from '../../application/quarantine/quarantined-operations.ts';
import type { RebuildResult } from '../../application/rebuild/rebuild-read-models.ts';
import type { ReconcileStatement } from '../../application/reconciliation/reconcile-statement.ts';
import type { SandboxClock } from '../../application/sandbox/sandbox-clock.ts';
import type { SealPlace } from '../../application/seals/check-seals.ts';
import type { LateEvents } from '../../application/webhooks/late-events.ts';
import type { WebhookRecovery } from '../../application/webhooks/webhook-recovery.ts';
import type { CalendarDate } from '../../domain/shared/calendar-date.ts';
import type { LoanRow } from '../../projections/loan/loan-view.ts';

/** What the commands need of the service, opened only once a command is known to be well written. */
export interface CliServices {
  readonly createClient: Pick<CreateClient, 'execute'>;
  readonly listClients: Pick<ListClients, 'execute'>;
  readonly updateClient: Pick<UpdateClient, 'execute'>;
  readonly revokeClient: Pick<RevokeClient, 'execute'>;
  readonly loans: LoanServices;
  readonly status: () => Promise<ServiceStatus>;
  /** What posts events to a receiver on this machine. @throws NotAllowedError not in a sandbox */
  readonly forwarder: (url: string) => Forwarder;
  readonly keys: KeyServices;
  readonly webhooks: Pick<WebhookRecovery, 'list' | 'deliveries' | 'plan' | 'repeat'>;
  readonly administrator: AdministratorServices;
  readonly events: Pick<EventStream, 'read'>;
  readonly fundSide: FundSideServices;
  readonly privacy: PrivacyServices;
  readonly projections: ProjectionsServices;
  readonly audit: AuditServices;
  readonly quarantine: Pick<QuarantinedOperations, 'list' | 'release'>;
  readonly followers: Pick<FollowerPlaces, 'list' | 'move'>;
  readonly topics: TopicServices;
  /** @throws WrongUseError without Kafka */
  readonly lateEvents: Pick<LateEvents, 'list' | 'send'>;
  readonly upgrade: Pick<StoredFormats, 'leaveEarlierRelease'>;
  /** Undefined in production. */
  readonly sandboxClock: Pick<SandboxClock, 'show' | 'move'> | undefined;
  close(): Promise<void>;
}

/** A topic as the brokers tell it. */
export interface ListedTopic {
  readonly topic: string;
  /** 0 for a topic that is not there yet. */
  readonly partitions: number;
  readonly spreadOver: number | undefined;
  readonly waiting: number;
  /** Of the partition that has the fewest. */
  readonly copies: number;
  readonly minInsyncReplicas: number | undefined;
  readonly retentionMs: number | undefined;
  /** What is not as it should be, each with the command that mends it. */
  readonly problems: readonly { readonly problem: string; readonly command: string }[];
}

/** @throws WrongUseError without Kafka */
export interface TopicServices {
  list(): Promise<readonly ListedTopic[]>;
  /** @throws NotAllowedError as long as an event could overtake another */
  acceptPartitions(topic: string): Promise<{ readonly before: number; readonly partitions: number }>;
}

/** Operations of every application. */
export interface LoanServices {
  /** The only application that has an operation of this code. */
  applicationOf(code: string): Promise<string>;
  readonly requireKnown: FindOperation['requireKnown'];
  list(query: {
    readonly applicationId?: string;
    readonly fundId?: string;
    readonly status?: string;
    readonly limit: number;
  }): AsyncIterable<LoanRow>;
  /** As the interface shows it, without the borrower's name; undefined when there is none. */
  show(applicationId: string, code: string): Promise<Readonly<Record<string, unknown>> | undefined>;
  readonly pending: OperationStates['pending'];
  readonly holds: OperationStates['holds'];
  /** Resolves when the read model holds everything that was stored before the call. */
  catchUp(): Promise<void>;
  /** Now, ISO 8601 UTC. */
  now(): string;
}

export interface Forwarder {
  /** With which it signs, new for each run. */
  readonly secret: string;
  /** Answers what became of it, such as `200` or why it failed. Never throws. */
  send(event: PublicEvent, attempt: number, signal: AbortSignal): Promise<string>;
}

export interface KeyServices {
  /** `activeFrom` in UNIX milliseconds. */
  rotate(): Promise<{ readonly kid: string; readonly activeFrom: number }>;
  /** @throws NotAllowedError there is no such key */
  revoke(kid: string): Promise<{ readonly kid: string; readonly successor: string }>;
  /** @throws WrongUseError this process was not given both master keys */
  rotateMaster(): Promise<{
    readonly from: string;
    readonly to: string;
    readonly rewrapped: number;
    readonly already: number;
  }>;
}

export interface AdministratorServices {
  /** The only application that has an operation of this code. */
  applicationOf(code: string): Promise<string>;
  /** Carries out decisions, each given as JSON text, and answers in their order. */
  submitAll(texts: readonly string[]): Promise<readonly DecisionAnswer[]>;
  /** Carries out decisions and adds the refused ones to this file, or to the usual one. */
  into(deadLetterFile: string | undefined): {
    process: (received: readonly ReceivedDecision[]) => Promise<readonly DecisionAnswer[]>;
    /** Where they are. */
    readonly deadLetter: string;
  };
}

/** What auditors need of the service. */
export interface AuditServices {
  readonly signer: AnchorSigner;
  /** Seals all that is there and answers the end of the seal book. @throws DifferencesFoundError the book is not what was written */
  sealNow(): Promise<SealPlace>;
  readonly verification: Pick<VerifyLog, 'execute' | 'expectedEvents'>;
  /** @param file kept there for an audit that goes on later; without one they go with the process */
  openNotes(file?: string): AuditNotes & { close(): void };
  readonly operations: Pick<ShowOperation, 'execute'>;
  /** The only application that has an operation of this code. */
  applicationOf(code: string): Promise<string>;
  /** Now, ISO 8601 UTC. */
  now(): string;
}

export interface BackupSummary {
  readonly program_version: string;
  readonly begun_at: string;
  readonly log: { readonly position: number; readonly events: number; readonly streams: number };
  readonly master_key_contained: boolean;
  readonly files: readonly { readonly size: number }[];
}

export type OnStep = (done: number, total: number) => void;

/** Works on files alone: nothing of the service is opened. */
export interface BackupServices {
  write(request: {
    readonly to: string;
    readonly withKey: boolean;
    readonly onStep: OnStep;
  }): Promise<BackupSummary>;
  restore(request: {
    readonly from: string;
    readonly dataDir: string;
    readonly onStep: OnStep;
  }): Promise<BackupSummary>;
}

/** What forgetting a borrower needs of the service. */
export interface PrivacyServices {
  readonly indexing: Pick<IndexBorrowers, 'completeOnce'>;
  readonly forgetting: Pick<ForgetBorrower, 'find' | 'findLost' | 'forget' | 'forgetLost' | 'clearRefused'>;
  /** Takes what was deleted out of the store's own log; false when that has to wait, undefined where the engine sees to it. */
  scrub(): Promise<boolean | undefined>;
}

/** What the fund's reports need of the service. */
export interface FundSideServices {
  readonly statements: Statements;
  readonly reconciliation: Pick<ReconcileStatement, 'execute'>;
  readonly portfolio: Pick<ShowPortfolio, 'execute'>;
  /** The calendar date in America/Sao_Paulo. */
  today(): CalendarDate;
  /** Resolves when this read model holds everything that was stored before the call. @throws Error when it cannot */
  catchUp(projection: 'reconciliation' | 'portfolio'): Promise<void>;
}

/** One read model of one generation. */
export interface ListedReadModel {
  readonly generation: number;
  readonly state: GenerationState;
  readonly projection: string;
  readonly programVersion: number;
  /** Undefined before the first batch. */
  readonly place: ProjectionPlace | undefined;
  readonly rows: number;
}

export interface ProjectionsServices {
  list(): AsyncIterable<ListedReadModel>;
  rebuild(request: {
    readonly force: boolean;
    readonly signal: AbortSignal;
    readonly onProgress: (share: number) => void;
    readonly onDifference: (projection: { readonly name: string }, difference: RowDifference) => void;
  }): Promise<RebuildResult>;
  /** The numbers of the generations that are gone now. */
  dropOld(): Promise<readonly number[]>;
}

/** A part of the service that follows the log. */
export interface FollowerPlace {
  readonly name: string;
  readonly position: string;
  /** Events that it has still to take in; a number below `atLeast` is exact. */
  readonly behind: number;
  readonly atLeast: boolean;
  /** Why it cannot follow the log from there. */
  readonly problem?: string;
}

export interface ServiceStatus {
  readonly running: boolean;
  /** Where it was looked for. */
  readonly place: string;
  /** Process, machine or answer by which it was found. */
  readonly found: string | null;
  readonly roles: readonly {
    readonly role: string;
    readonly state: string;
    readonly holder: string | null;
  }[];
  readonly engines: readonly { readonly engine: string; readonly kind: string; readonly state: string }[];
  readonly followers: readonly FollowerPlace[];
  readonly operations: readonly StateCount[];
  readonly deliveriesWaiting: { readonly webhooks: number; readonly oldestSince: string | null };
}

export interface Finding {
  readonly check: string;
  readonly state: 'ok' | 'warning' | 'failed';
  readonly detail: string;
}

export const MOVE_TARGETS = ['eventstore', 'database', 'documents'] as const;
/** Addresses of the engines to move to; the environment says the others. They may hold passwords. */
export type MoveTargets = Partial<Record<(typeof MOVE_TARGETS)[number], string>>;

/** A move that is ready to begin, or to go on. */
export interface MoveService {
  /** Steps of the whole move. */
  steps(): Promise<number>;
  /** @param done called with steps as they are done. Answers what is printed. */
  execute(done: (steps: number) => void): Promise<object>;
  close(): Promise<void>;
}
