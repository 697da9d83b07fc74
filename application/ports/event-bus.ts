import type { LogPosition } from './event-store.ts';

/** What the outside may know of a domain event; its body is frozen once and never changes. */
export interface PublicEvent {
  /** UUID, the same however often the event is produced. */
  readonly eventId: string;
  readonly name: string;
  readonly applicationId: string;
  readonly fundId: string;
  readonly code: string;
  readonly sequence: number;
  /** Time of the event, ISO 8601 UTC. */
  readonly timestamp: string;
  /** The exact JSON text that every subscriber gets. */
  readonly body: string;
  /** Of the stored event that it was made of; absent where a message of an earlier release does not say it. */
  readonly position?: LogPosition;
}

/**
 * Handles a batch in order. A bus that keeps its events says how far the batch brings the group: a handler whose effects are in
 * SQL writes that in the same transaction and answers `progress_stored`; otherwise the bus writes it afterwards.
 */
export type EventHandler = (
  events: readonly PublicEvent[],
  progress?: ConsumerProgress,
) => Promise<void | 'progress_stored'>;

/**
 * Carries public events from the relay to consumer groups: at least once, in order per operation. `publish` resolves when the
 * bus has taken responsibility for all of them; after that they survive a crash.
 */
export interface EventBus {
  /** @throws MessageTooLargeError for one that it will not take next time either; others of the call may be on it */
  publish(events: readonly PublicEvent[]): Promise<void>;
  /** Registers a handler; it is called with batches in order and again with the same batch when it throws. */
  consume(group: string, handler: EventHandler): Promise<void>;
  close(): Promise<void>;
}

/** One of the messages is larger than the bus takes, so that it can never be sent. */
export class MessageTooLargeError extends Error {
  override readonly name = 'MessageTooLargeError';
}

export interface OperationMark {
  readonly operation: string;
  readonly sequence: number;
  /** Events with this sequence that were handled; one stored event may give several public ones. */
  readonly eventIds: readonly string[];
  /** Everything of the operation that was handled, as the bus writes it down; absent in marks of before. */
  readonly handled?: string;
}

/** How far a batch brings a consumer group in one partition; belongs into the same transaction as the batch's effects. */
export interface ConsumerProgress {
  readonly group: string;
  readonly topic: string;
  readonly partition: number;
  /** Offset that is stored now; with any other in the store, another process went on and nothing may be written. */
  readonly from: number;
  readonly to: number;
  readonly operations: readonly OperationMark[];
}

export interface ListedTopic {
  readonly topic: string;
  readonly partitions: number;
  readonly spreadOver: number | undefined;
  readonly waiting: number;
  /** Of the partition that has the fewest. */
  readonly copies: number;
  readonly minInsyncReplicas: number | undefined;
  readonly retentionMs: number | undefined;
  readonly problems: readonly { readonly problem: string; readonly command: string }[];
}

export interface Topics {
  list(): Promise<readonly ListedTopic[]>;
  /** @throws NotAcceptedError as long as an event could overtake another */
  acceptPartitions(topic: string): Promise<{ readonly before: number; readonly partitions: number }>;
  /** Resolves once a group has handled all that the topic holds at the call. @throws Error naming what is left when that takes longer */
  untilHandled(topic: string, group: string, ms: number): Promise<void>;
}

/** The number of partitions cannot be accepted now; the message says why and what to do. */
export class NotAcceptedError extends Error {
  override readonly name = 'NotAcceptedError';
}
