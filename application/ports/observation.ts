import type { PublicEvent } from './event-bus.ts';
import type { AppendResult, EventToAppend, RecordedEvent } from './event-store.ts';

export interface WatchedRequest {
  readonly requestId: string;
  readonly operation: string | undefined;
  readonly method: string;
  /** The caller's own trace, as the header `traceparent` has it; not checked yet. */
  readonly traceparent: string | undefined;
  status(): number | undefined;
}

/** Follows each request from its arrival to its answer. Never fails, and returns or throws what the work does. */
export interface RequestWatch {
  run(request: WatchedRequest, work: () => Promise<void>): Promise<void>;
}

export const UNWATCHED_REQUESTS: RequestWatch = { run: (_, work) => work() };

export interface WatchedCommand {
  readonly stream: string;
  readonly actor: string;
  readonly correlationId: string;
  readonly causationId?: string;
}

export interface WatchedResult {
  readonly replayed: boolean;
  readonly events?: readonly unknown[];
}

/** Follows each command from its arrival to its outcome. Never fails, and returns or throws what the work does. */
export interface CommandWatch {
  run<Result extends WatchedResult>(command: WatchedCommand, work: () => Promise<Result>): Promise<Result>;
}

export const UNWATCHED_COMMANDS: CommandWatch = { run: (_, work) => work() };

/** Follows each append from its call to its outcome, and is told of reads that failed. Never fails, and returns or throws what the append does. */
export interface EventStoreWatch {
  append(
    stream: string,
    events: readonly EventToAppend[],
    append: () => Promise<AppendResult>,
  ): Promise<AppendResult>;
  readFailed(call: 'read' | 'head' | 'find_claim'): void;
}

/** Is told how the calls of an SQL store end. Returns at once and never fails. */
export interface SqlWatch {
  committed(durationMs: number): void;
  failed(call: 'read' | 'snapshot' | 'transaction', error: unknown): void;
}

/** Is told of public events on their way to the webhooks. Returns at once and never fails. Instants are UNIX milliseconds; what began then has just ended. */
export interface PublicationWatch {
  translated(recorded: readonly RecordedEvent[], events: readonly PublicEvent[]): void;
  published(events: readonly PublicEvent[], startedAt: number): void;
  consumed(group: string, events: readonly PublicEvent[], startedAt: number): void;
}

/** What operators watch. Calls are cheap and never fail. */
export interface WebhookMetrics {
  /** One attempt ended. `reason` is a short stable word such as `timeout`; absent when it was delivered. */
  attempt(attempt: {
    readonly outcome: 'delivered' | 'failed';
    readonly reason?: string;
    readonly first: boolean;
    readonly durationMs: number;
  }): void;
  /** From the creation of the delivery to its success, milliseconds. */
  delivered(latencyMs: number): void;
  exhausted(): void;
  queued(count: number): void;
  inFlight(count: number): void;
  breaker(state: 'opened' | 'closed'): void;
  leaseLost(): void;
}
