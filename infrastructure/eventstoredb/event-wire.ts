import type { EventToAppend, JsonText, LogPosition } from '../../application/ports/event-store.ts';

export interface Position {
  readonly commit: bigint;
  readonly prepare: bigint;
}

const FORMAT = /^(\d+)\/(\d+)$/;

/** What servers say of a place that they do not know: all bits set. */
export const NOWHERE = 0xffff_ffff_ffff_ffffn;

/** A place in the log as text. Reading on needs commit and prepare position: the first alone is not a place to begin at. */
export const toLogPosition = (commit: number | bigint, prepare: number | bigint): LogPosition =>
  `${commit}/${prepare}` as LogPosition;

/** @throws RangeError a position of another event store, or of none */
export const fromLogPosition = (position: LogPosition): Position => {
  const [, commit, prepare] = FORMAT.exec(position) ?? [];
  if (commit === undefined || prepare === undefined)
    throw new RangeError(`${position} is not a position in EventStoreDB: was it stored by another engine?`);
  return { commit: BigInt(commit), prepare: BigInt(prepare) };
};

/** Whether the first stands behind the second in the log. */
export const isLater = (position: LogPosition, than: LogPosition | 'start'): boolean => {
  if (than === 'start') return true;
  const [a, b] = [position.slice(0, position.indexOf('/')), than.slice(0, than.indexOf('/'))];
  return a.length === b.length ? a > b : a.length > b.length;
};

/** The server refuses a larger append. Newer versions count metadata and types, so they always count here. */
const MAX_APPEND_BYTES = 1_048_576;

/** What the server may count for an event beyond the bytes that it is handed. */
const OVERHEAD_PER_EVENT = 64;

interface EncodedEvent {
  readonly id: string;
  readonly type: string;
  readonly contentType: 'application/json' | 'application/octet-stream';
  readonly data: Uint8Array;
  readonly metadata: Uint8Array;
  /** Bytes that it takes of an append, at most. */
  readonly size: number;
}

/** Only what is an object of JSON is called JSON, which the server's own tools look into. What is handed over is JSON. */
const isJsonObject = (text: JsonText): boolean => text.startsWith('{') && text.endsWith('}');

const encoded = new WeakMap<EventToAppend, EncodedEvent>();

/** The text goes out byte by byte as it is: the hash chain covers every character. Each event is encoded once. */
export const encodeEvent = (event: EventToAppend): EncodedEvent => {
  const known = encoded.get(event);
  if (known) return known;
  const { id, type, data: text } = event;
  const [data, metadata] = [Buffer.from(text), Buffer.from(JSON.stringify(event.metadata))];
  const size = data.length + metadata.length + 2 * type.length + OVERHEAD_PER_EVENT;
  const contentType = isJsonObject(text) ? 'application/json' : 'application/octet-stream';
  const made: EncodedEvent = { id, type, contentType, data, metadata, size };
  encoded.set(event, made);
  return made;
};

/** Bytes that these events take of an append, at most. */
export const sizeOfAppend = (events: readonly EventToAppend[]): number =>
  events.reduce((sum, event) => sum + encodeEvent(event).size, 0);

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
