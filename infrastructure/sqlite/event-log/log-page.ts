import type { LogPosition, RecordedEvent } from '../../../application/ports/event-store.ts';

/** A stretch of the log: every event after the requested position up to and with `scanned` that passes the filter. */
export interface LogPage {
  readonly events: readonly RecordedEvent[];
  readonly scanned: number;
  /** Position of the log's last event when the page was read. */
  readonly end: number;
}

export const toPosition = (position: number): LogPosition => String(position) as LogPosition;
