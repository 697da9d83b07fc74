/** What the outside may know of a domain event; its body is frozen once and never changes. */
export interface PublicEvent {
  /** UUID, the same however often the event is produced. */
  readonly eventId: string;
  /** Name in the event catalogue, such as `loan_received`. */
  readonly name: string;
  readonly applicationId: string;
  readonly fundId: string;
  /** originator_proposal_code */
  readonly code: string;
  /** Grows within an operation, with gaps. */
  readonly sequence: number;
  /** Time of the event, ISO 8601 UTC. */
  readonly timestamp: string;
  /** The exact JSON text that every subscriber gets. */
  readonly body: string;
}

/** Thrown by a handler for an event that it can never handle: a bus that keeps its events puts it aside and goes on without it. */
export class RefusedEventError extends Error {
  override readonly name = 'RefusedEventError';
  readonly eventId: string;
  constructor(eventId: string, reason: string) {
    super(reason);
    this.eventId = eventId;
  }
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
  publish(events: readonly PublicEvent[]): Promise<void>;
  /** Registers a handler; it is called with batches in order and again with the same batch when it throws. */
  consume(group: string, handler: EventHandler): Promise<void>;
  close(): Promise<void>;
}

/** The newest event that a group has handled of one operation. */
export interface OperationMark {
  /** Key of the operation on the bus. */
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
  /** Offset of the next message to handle. */
  readonly to: number;
  readonly operations: readonly OperationMark[];
}

/** The stored offset was not the expected one: another consumer has the partition, or an earlier try did commit. Nothing was stored. */
export class PartitionLostError extends Error {
  override readonly name = 'PartitionLostError';
  constructor({ group, topic, partition, from }: ConsumerProgress) {
    super(`group ${group} is no longer at offset ${from} of ${topic}/${partition}`);
  }
}

/**
 * Where consumer groups stand, in the store that holds the effects of what they consumed; this is the truth, the broker's own
 * record only follows. Errors of the store pass through.
 */
export interface ConsumerOffsets {
  /** Next offset by partition; no entry for a partition that the group never had. */
  load(group: string, topic: string): Promise<ReadonlyMap<number, number>>;
  /** First offset of a partition; changes nothing where there is one. */
  begin(group: string, topic: string, partition: number, offset: number): Promise<void>;
  /** For effects that are kept elsewhere, or that are none. @throws PartitionLostError */
  advance(progress: ConsumerProgress): Promise<void>;
  /** Changes the mark of one operation and no offset. False, and nothing changes, where the mark is not `before` any more. */
  mark(group: string, before: OperationMark | undefined, after: OperationMark): Promise<boolean>;
  /** What the group has handled of these operations, most of the time something of each. */
  marks(group: string, operations: readonly string[]): Promise<ReadonlyMap<string, OperationMark>>;
  /**
   * Number of partitions over which the operations of a topic are spread: the first one that is told stays, until another is accepted.
   * Where none was told yet, offsets that groups have there say it.
   */
  keepPartitions(topic: string, partitions: number): Promise<number>;
  /** Undefined before the first. */
  keptPartitions(topic: string): Promise<number | undefined>;
  /** False, and nothing changes, when another number than `from` is kept. */
  acceptPartitions(topic: string, from: number, to: number): Promise<boolean>;
  /** Groups that have offsets there. */
  groups(topic: string): Promise<readonly string[]>;
}

/** A message that a consumer group put aside, because it could not handle it, or not in its order. */
export interface DeadLetter {
  /** Undefined, like the others, for a message that does not say it. */
  readonly eventId: string | undefined;
  readonly name: string | undefined;
  readonly applicationId: string | undefined;
  readonly code: string | undefined;
  readonly group: string;
  readonly reason: string;
  /** Where the message stood before. */
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  /** ISO 8601 UTC */
  readonly putAsideAt: string;
}

/** What the groups of the event bus have put aside. */
export interface DeadLetters {
  /** In the order in which they were put aside; a message that was put aside again after a crash comes once. */
  list(): Promise<readonly DeadLetter[]>;
  /** Whether the group has handled this event meanwhile. */
  isHandled(group: string, event: PublicEvent): Promise<boolean>;
  /** From now on the group counts this event as handled. */
  noteHandled(group: string, event: PublicEvent): Promise<void>;
}

/** An operation with an event that cannot be published: from that event on, its events wait. */
export interface HeldBack {
  readonly stream: string;
  /** Of the first event that waits. */
  readonly revision: bigint;
  readonly eventType: string;
  readonly reason: string;
}

/** What the relay holds back. Durable when a call resolves. */
export interface RelayQuarantine {
  /** In the order of their names. */
  list(): Promise<readonly (HeldBack & { readonly released: boolean })[]>;
  /** Keeps what is there for the operation, but for the reason, and takes a release back. */
  put(entry: HeldBack): Promise<void>;
  /** The relay tries it again. False when nothing is held back of this operation. */
  release(stream: string): Promise<boolean>;
  /** Everything that waited is on the bus. */
  remove(stream: string): Promise<void>;
}
