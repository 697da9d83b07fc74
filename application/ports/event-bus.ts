import type { ConsumerProgress } from './consumer-offsets.ts';

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
