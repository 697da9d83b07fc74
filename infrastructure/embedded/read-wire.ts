import type {
  EventMetadata,
  JsonText,
  LogPosition,
  RecordedEvent,
} from '../../application/ports/event-store.ts';
import { DamagedEventError, StoreUnavailableError } from '../../application/ports/event-store.ts';
import type { Cells } from './thread-protocol.ts';
import { numberCell, textCell } from './thread-protocol.ts';

/** First cell of a request to the reader thread. */
export type ReadRequest = 'head' | 'stream' | 'claim' | 'end' | 'page';

const CELLS_PER_EVENT = 7;

/** A stretch of the log: every event after the requested position up to and with `scanned` that passes the filter. */
export interface LogPage {
  readonly events: readonly RecordedEvent[];
  readonly scanned: number;
  /** Position of the log's last event when the page was read. */
  readonly end: number;
}

export const toPosition = (position: number): LogPosition => String(position) as LogPosition;

export const checkRead = (reply: Cells): Cells => {
  if (reply[0] !== 'ok') throw new StoreUnavailableError(textCell(reply, 1));
  return reply;
};

export const decodeEvents = (cells: Cells, start: number): readonly RecordedEvent[] => {
  const events: RecordedEvent[] = [];
  for (let at = start; at < cells.length; at += CELLS_PER_EVENT)
    events.push({
      id: textCell(cells, at),
      type: textCell(cells, at + 1),
      data: textCell(cells, at + 2) as JsonText,
      metadata: metadataOf(cells, at),
      ...placeOf(cells, at),
    });
  return events;
};

const placeOf = (cells: Cells, at: number) => ({
  stream: textCell(cells, at + 4),
  revision: BigInt(numberCell(cells, at + 5)),
  position: toPosition(numberCell(cells, at + 6)),
});

const metadataOf = (cells: Cells, at: number): EventMetadata => {
  try {
    const metadata: unknown = JSON.parse(textCell(cells, at + 3));
    if (typeof metadata === 'object' && metadata !== null) return metadata as EventMetadata;
  } catch {
    // Falls through to the error, which names the event.
  }
  throw new DamagedEventError(placeOf(cells, at), 'its metadata is not what was stored');
};

export const decodePage = (reply: Cells): LogPage => ({
  scanned: numberCell(reply, 1),
  end: numberCell(reply, 2),
  events: decodeEvents(reply, 3),
});
