import type { EventData, RecordedEvent as ClientEvent } from '@eventstore/db-client';
import type {
  EventMetadata,
  EventToAppend,
  JsonText,
  LogPosition,
  RecordedEvent,
} from '../../application/ports/event-store.ts';
import { isPlace, toLogPosition } from './log-position.ts';

/** The server refuses a larger append. Newer versions count metadata and types, so they always count here. */
export const MAX_APPEND_BYTES = 1_048_576;

/** What the server may count for an event beyond the bytes that it is handed. */
const OVERHEAD_PER_EVENT = 64;

const encoder = new TextEncoder();

/**
 * The client parses JSON and writes it anew in both directions, and the hash chain covers every character. So only text that
 * comes out of that unchanged, such as the codec's, is marked as JSON; any other text is carried as plain bytes.
 */
const parsedUnchanged = (text: string): object | undefined => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && JSON.stringify(value) === text ? value : undefined;
  } catch {
    return undefined;
  }
};

/** As the client takes it. The metadata is bytes already: nothing in it can trip the client's own serialization. */
export const toEventData = ({ id, type, data, metadata }: EventToAppend): EventData => {
  const parsed = parsedUnchanged(data);
  const common = { id, type, metadata: encoder.encode(JSON.stringify(metadata)) };
  if (parsed) {
    return {
      ...common,
      contentType: 'application/json',
      data: parsed as unknown[] | Record<string, unknown>,
    };
  }
  return { ...common, contentType: 'application/octet-stream', data: encoder.encode(data) };
};

/** Bytes that these events take of an append, at most. */
export const sizeOfAppend = (events: readonly EventToAppend[]): number =>
  events.reduce((sum, { type, data, metadata }) => {
    const texts = Buffer.byteLength(data) + Buffer.byteLength(JSON.stringify(metadata));
    return sum + texts + 2 * type.length + OVERHEAD_PER_EVENT;
  }, 0);

/**
 * Everything that would make sending them fail, found before anything is sent. @returns their size in bytes
 * @throws RangeError
 */
export const ensureStorable = (stream: string, events: readonly EventToAppend[]): number => {
  const ill = events.find(({ data }) => !data.isWellFormed());
  if (ill) throw new RangeError(`event ${ill.id} for ${stream}: its text is not well-formed Unicode`);
  const size = sizeOfAppend(events);
  if (size > MAX_APPEND_BYTES) throw tooLarge(stream, size);
  return size;
};

export const tooLarge = (stream: string, size: number): RangeError =>
  new RangeError(
    `an append of ${size} bytes to ${stream} is more than the ${MAX_APPEND_BYTES} that EventStoreDB takes at once`,
  );

const textOf = (data: unknown): string =>
  data instanceof Uint8Array ? Buffer.from(data).toString('utf8') : JSON.stringify(data);

const NO_METADATA: EventMetadata = {
  correlationId: '',
  causationId: '',
  actor: '',
  applicationId: '',
  recordedAt: '',
  hash: '',
};

/** Events that others wrote into our streams come without our metadata; the hash chain tells them from ours. */
const metadataOf = (metadata: unknown): EventMetadata =>
  typeof metadata === 'object' && metadata !== null && !(metadata instanceof Uint8Array)
    ? (metadata as EventMetadata)
    : NO_METADATA;

export const toRecordedEvent = (event: ClientEvent): RecordedEvent => ({
  id: event.id,
  type: event.type,
  data: textOf(event.data) as JsonText,
  metadata: metadataOf(event.metadata),
  stream: event.streamId,
  revision: event.revision,
  // Servers before 22.6 tell no positions when they read a single stream.
  position: isPlace(event.position) ? toLogPosition(event.position) : ('unknown' as LogPosition),
});
