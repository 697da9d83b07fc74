import type { DecisionAnswer } from '../../application/administrator/decision-desk.ts';
import type { CreateClient } from '../../application/clients/create-client.ts';
import type { ListClients } from '../../application/clients/list-clients.ts';
import type { RevokeClient } from '../../application/clients/revoke-client.ts';
import type { UpdateClient } from '../../application/clients/update-client.ts';
import type { ReceivedDecision } from '../../application/ports/decision-source.ts';
import type { PublicEvent } from '../../application/ports/event-bus.ts';
import type { OperationStates } from '../../application/ports/loan-queries.ts';
import type { StoredFormats } from '../../application/ports/stored-formats.ts';
import type { EventStream } from '../../application/publishing/event-stream.ts';
import type { SandboxClock } from '../../application/sandbox/sandbox-clock.ts';
import type { QuarantinedOperations } from '../../application/quarantine/quarantined-operations.ts';
import type { WebhookRecovery } from '../../application/webhooks/webhook-recovery.ts';
import type { LoanRow } from '../../projections/loan/loan-view.ts';
import type { AuditServices } from './audit-services.ts';
import type { BackupServices } from './backup-services.ts';
import type { PrivacyServices } from './borrower-services.ts';
import type { FundSideServices } from './fund-side-services.ts';
import type { ProjectionsServices } from './projections-services.ts';
import type { MoveService, MoveTargets } from './move-service.ts';
import type { Finding, ServiceStatus } from './status-services.ts';

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
  readonly upgrade: Pick<StoredFormats, 'leaveEarlierRelease'>;
  /** Undefined in production. */
  readonly sandboxClock: Pick<SandboxClock, 'show' | 'move'> | undefined;
  close(): Promise<void>;
}

/** Operations of every application. */
export interface LoanServices {
  /** The only application that has an operation of this code. */
  applicationOf(code: string): Promise<string>;
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

/** Shows how far a long command is. */
export interface Progress {
  /** @param steps default: one */
  advance(steps?: number): void;
  /** Leaves the terminal as it was; called whatever happens. */
  end(): void;
}

export interface CliDependencies {
  open(): Promise<CliServices>;
  /** Opens the old data directory and the engines that it is moved to. Left out where there is nothing to move. */
  readonly openMove?: (targets: MoveTargets) => Promise<MoveService>;
  /** Of the program, as `--version` prints it. */
  readonly version?: string;
  /** Whether standard output is a terminal, and whether it shows colours. Default: neither. */
  readonly terminal?: boolean;
  readonly colour?: boolean;
  /** To standard output. What comes back is awaited before more is written. */
  write(text: string): unknown;
  /** The same for text that is safe to show and may hold colours. Default: `write`. */
  readonly show?: (text: string) => unknown;
  /** To standard error. */
  writeError(text: string): void;
  /** For so many steps; shows nothing where nobody looks. */
  startProgress(total: number): Progress;
  /** The bytes of a file; `-` is standard input, which is also the default. */
  readonly input?: (file: string) => AsyncIterable<Uint8Array>;
  /** What a person at the terminal answers; undefined, or left out, where there is none. */
  readonly ask?: (question: string) => Promise<string | undefined>;
  /** Looks for what is wrong, with or without a service that could be opened. */
  readonly examine?: () => Promise<readonly Finding[]>;
  /** Calls with each key, or first letter of a line, that somebody types, until the signal. */
  readonly onKey?: (listener: (key: string) => void, signal: AbortSignal) => void;
  /** Copies of the data, without opening the service. */
  readonly backups?: () => BackupServices;
  /** From the call on, an interruption ends this signal instead of the process. Default: nothing interrupts. */
  readonly untilInterrupted?: () => AbortSignal;
}

/** Nobody reads the output any more: no failure, but no reason to go on either. */
export class OutputClosedError extends Error {
  override readonly name = 'OutputClosedError';
}

/** A decision that the rules do not allow; the message says why. */
export class DecisionRefusedError extends Error {
  override readonly name = 'DecisionRefusedError';
}

/** The service knows nothing of this id, or its rules say no. */
export class NotAllowedError extends Error {
  override readonly name = 'NotAllowedError';
}

/** The command does not fit what this process was given. */
export class WrongUseError extends Error {
  override readonly name = 'WrongUseError';
}

/** What was compared differs. */
export class DifferencesFoundError extends Error {
  override readonly name = 'DifferencesFoundError';
}

/** A command that was understood but could not be done. */
export class CommandFailedError extends Error {
  override readonly name = 'CommandFailedError';
}

/**
 * Runs with opened services, closes them whatever happens, and prints each value as one line of JSON as soon as it is there. Text
 * is a line of JSON already.
 */
export const answerLines = async (
  dependencies: CliDependencies,
  work: (services: CliServices) => AsyncIterable<object | string>,
): Promise<void> => {
  const services = await dependencies.open();
  try {
    for await (const line of work(services)) {
      await dependencies.write(`${typeof line === 'string' ? line : JSON.stringify(line)}\n`);
    }
  } finally {
    await services.close();
  }
};

/** Runs with opened services, closes them whatever happens, and prints what came out as JSON. */
export const answer = async (
  dependencies: CliDependencies,
  work: (services: CliServices) => Promise<object>,
): Promise<void> => {
  const services = await dependencies.open();
  let result: object;
  try {
    result = await work(services);
  } finally {
    await services.close();
  }
  await dependencies.write(`${JSON.stringify(result)}\n`);
};
