import type { KeyClaim, LogPosition, RecordedEvent } from '../../ports/event-store.ts';

export interface EventToMove {
  readonly event: RecordedEvent;
  readonly at: number;
  readonly previousHash: string | undefined;
  readonly claim: KeyClaim | undefined;
}

/** The streams that are left behind; no process writes to them any more. It answers at once, from a file. */
export interface LogToMove {
  counts(): { readonly events: number; readonly streams: number; readonly claims: number };
  page(after: number, limit: number): readonly EventToMove[];
  find(eventId: string): EventToMove | undefined;
  /** Place of the last event at or before this position; 0 before the first. */
  lastAt(position: LogPosition): number;
  claims(): Iterable<readonly { readonly claim: KeyClaim; readonly stream: string }[]>;
}

interface CheckpointToMove {
  readonly name: string;
  readonly position: LogPosition;
}

export interface SubscriptionPlace {
  readonly webhookId: string;
  readonly column: 'begins_at' | 'filter_from';
  readonly place: LogPosition | 'start';
}

export interface PlacesToMove {
  readonly checkpoints: readonly CheckpointToMove[];
  readonly subscriptions: readonly SubscriptionPlace[];
}

/** The move cannot go on as things are; what was copied stays, and nothing was put into use. */
export class MoveFailedError extends Error {
  override readonly name = 'MoveFailedError';
}
