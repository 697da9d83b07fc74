import type { KeyClaim, LogPosition, RecordedEvent } from './event-store.ts';

/** An event of the log that is left behind. */
export interface EventToMove {
  readonly event: RecordedEvent;
  /** Its place in the old log; later events have larger ones. */
  readonly at: number;
  /** Hash of the event before it in its stream; undefined for the first. */
  readonly previousHash: string | undefined;
  /** The key that its append used up. */
  readonly claim: KeyClaim | undefined;
}

export interface HeldClaim {
  readonly claim: KeyClaim;
  readonly stream: string;
}

/** The streams that are left behind; no process writes to them any more. It answers at once, from a file. */
export interface LogToMove {
  counts(): { readonly events: number; readonly streams: number; readonly claims: number };
  /** In the order of the log. */
  page(after: number, limit: number): readonly EventToMove[];
  find(eventId: string): EventToMove | undefined;
  /** Place of the last event at or before this position; 0 before the first. */
  lastAt(position: LogPosition): number;
  /** All of them, in pages. */
  claims(): Iterable<readonly HeldClaim[]>;
}

/** A name of the checkpoint store and where it stands in the old log. */
export interface CheckpointToMove {
  readonly name: string;
  readonly position: LogPosition;
}

/** Everything beside the streams that has to go along. */
export interface RecordsToMove {
  /** Steps that copying and comparing them takes. */
  count(): number;
  checkpoints(): readonly CheckpointToMove[];
  /** Rows that are there already stay as they are. @param moved called with a number of rows as soon as they are stored */
  copy(moved: (rows: number) => void): Promise<void>;
  /** @throws MoveFailedError a row differs, is missing, or is one too many */
  compare(compared: (rows: number) => void): Promise<void>;
}

/** The move cannot go on as things are; what was copied stays, and nothing was put into use. */
export class MoveFailedError extends Error {
  override readonly name = 'MoveFailedError';
}
