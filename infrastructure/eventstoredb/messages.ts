import type {
  JsonText,
  LogPosition,
  RecordedEvent,
  AppendResult,
  EventToAppend,
  StreamRevision,
} from '../../application/ports/event-store.ts';
import { metadataOf } from '../../application/event-codec/event-codec.ts';
import { NOWHERE, toLogPosition, encodeEvent } from './event-wire.ts';
import type { Position } from './event-wire.ts';
import { Fields, field, idOf, numberField, pairIn, textField } from './protobuf.ts';
import type { Pieces } from './protobuf.ts';
import type { Status } from '@eventstore/db-client/generated/status_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';

/** Where a read begins, and in which direction it goes: from a place forwards, or from the end backwards. */
type ReadPlace =
  { readonly stream: string; readonly from: bigint | 'end' } | { readonly from: Position | 'start' | 'end' };

const BACKWARDS = numberField(3, 1n);
const NO_FILTER = field(8);
const SUBSCRIPTION = field(6);
const IDS_AS_TEXT = field(9, ...field(2));
const STREAM_END = field(4);
const LOG_START = field(2);
const LOG_END = field(3);
/** The server tells where it is after it has looked at so many events in vain. */
const SEARCH_WINDOW = 256n;

const beginning = (place: ReadPlace): Pieces => {
  if ('stream' in place) {
    const from = place.from === 'end' ? STREAM_END : [numberField(2, place.from)];
    return field(1, ...field(1, ...textField(3, place.stream)), ...from);
  }
  if (place.from === 'end') return field(2, ...LOG_END);
  if (place.from === 'start') return field(2, ...LOG_START);
  return field(2, ...field(1, numberField(1, place.from.commit), numberField(2, place.from.prepare)));
};

/** `event_store.client.streams.ReadReq`. */
const request = (place: ReadPlace, ...options: Pieces): Buffer =>
  Buffer.concat(field(1, ...beginning(place), ...options, ...IDS_AS_TEXT));

/** So many events at most. */
export const readRequest = (place: ReadPlace, count: number): Buffer => {
  const direction = place.from === 'end' ? [BACKWARDS] : [];
  return request(place, ...direction, numberField(5, BigInt(count)), ...NO_FILTER);
};

/** All events of streams with these prefixes, without an end. */
export const subscriptionRequest = (from: Position | 'start', prefixes: readonly string[]): Buffer => {
  const names = prefixes.flatMap((prefix) => textField(2, prefix));
  const filter = field(7, ...field(1, ...names), numberField(3, SEARCH_WINDOW), numberField(5, 1n));
  return request({ from }, ...SUBSCRIPTION, ...filter);
};

/** What the server says in answer to a read or on a subscription, a message at a time. */
export type ReadAnswer =
  | { readonly kind: 'event'; readonly event: RecordedEvent }
  | { readonly kind: 'checkpoint'; readonly checkpoint: LogPosition }
  | { readonly kind: 'caught_up' }
  | { readonly kind: 'fell_behind' }
  | { readonly kind: 'confirmed' }
  | { readonly kind: 'absent' }
  | { readonly kind: 'other' };

const streamOf = (fields: Fields): string => {
  let name = '';
  for (let field = fields.next(); field !== 0; field = fields.next()) {
    if (field === 3) name = fields.text();
  }
  return name;
};

/** Of the server's own notes beside an event, only its type is of interest. */
const typeIn = (fields: Fields, known: string): string => {
  let [key, value] = ['', ''];
  for (let field = fields.next(); field !== 0; field = fields.next()) {
    if (field === 1) key = fields.text();
    else if (field === 2) value = fields.text();
  }
  return key === 'type' ? value : known;
};

// Servers before 22.6 tell no positions when they read a single stream.
const positionOf = (commit: number | bigint, prepare: number | bigint): LogPosition =>
  commit === NOWHERE ? ('unknown' as LogPosition) : toLogPosition(commit, prepare);

const recordedEvent = (fields: Fields): RecordedEvent => {
  let [id, type, stream, data, metadata] = ['', '', '', '', ''];
  let [revision, prepare, commit]: [number | bigint, number | bigint, number | bigint] = [0, 0, 0];
  for (let field = fields.next(); field !== 0; field = fields.next()) {
    if (field === 1) id = idOf(fields.message());
    else if (field === 2) stream = streamOf(fields.message());
    else if (field === 3) revision = fields.number();
    else if (field === 4) prepare = fields.number();
    else if (field === 5) commit = fields.number();
    else if (field === 6) type = typeIn(fields.message(), type);
    else if (field === 7) metadata = fields.text();
    else if (field === 8) data = fields.text();
  }
  return {
    id,
    type,
    data: data as JsonText,
    metadata: metadataOf(metadata),
    stream,
    revision: BigInt(revision),
    position: positionOf(commit, prepare),
  };
};

const eventIn = (fields: Fields): RecordedEvent | undefined => {
  let event: RecordedEvent | undefined;
  for (let field = fields.next(); field !== 0; field = fields.next()) {
    if (field === 1) event = recordedEvent(fields.message());
  }
  return event;
};

const SIMPLE: Readonly<Record<number, ReadAnswer>> = {
  2: { kind: 'confirmed' },
  4: { kind: 'absent' },
  8: { kind: 'caught_up' },
  9: { kind: 'fell_behind' },
};
const OTHER = { kind: 'other' } as const;

/** `event_store.client.streams.ReadResp`. @throws RangeError it is cut off */
export const decodeReadAnswer = (bytes: Buffer): ReadAnswer => {
  const fields = new Fields(bytes);
  let answer: ReadAnswer = OTHER;
  for (let field = fields.next(); field !== 0; field = fields.next()) {
    if (field === 1) {
      const event = eventIn(fields.message());
      if (event) answer = { kind: 'event', event };
    } else if (field === 3) {
      answer = { kind: 'checkpoint', checkpoint: toLogPosition(...pairIn(fields.message())) };
    } else answer = SIMPLE[field] ?? answer;
  }
  return answer;
};

export interface AppendRequest {
  readonly stream: string;
  readonly expected: StreamRevision;
  readonly events: readonly EventToAppend[];
}

/** The outcome of one append of a batch call: refused, with what the server says of it, or stored. */
export type AppendAnswer =
  | { readonly id: string; readonly refusal: Status | undefined }
  | { readonly id: string; readonly result: AppendResult };

const FINAL = numberField(4, 1n);

const uuid = (number: number, id: string): Pieces => field(number, ...textField(2, id));

const entry = (key: string, value: string): Pieces => field(2, ...textField(1, key), ...textField(2, value));

const proposed = (event: EventToAppend): Pieces => {
  const { id, type, contentType, data, metadata } = encodeEvent(event);
  const notes = [...entry('type', type), ...entry('content-type', contentType)];
  return field(3, ...uuid(1, id), ...notes, ...field(3, metadata), ...field(4, data));
};

/**
 * `event_store.client.streams.BatchAppendReq`, whole. Without a deadline the server's own holds; one would be compared with its clock.
 */
export const appendMessage = (id: string, { stream, expected, events }: AppendRequest): Buffer => {
  const place = expected === 'no_stream' ? field(3) : [numberField(2, expected)];
  const options = field(2, ...field(1, ...textField(3, stream)), ...place);
  return Buffer.concat([...uuid(1, id), ...options, ...events.flatMap(proposed), FINAL]);
};

const resultIn = (fields: Fields): AppendResult => {
  let revision: number | bigint = 0;
  let position = 'unknown' as LogPosition;
  for (let number = fields.next(); number !== 0; number = fields.next()) {
    if (number === 1) revision = fields.number();
    else if (number === 3) position = toLogPosition(...pairIn(fields.message()));
  }
  return { revision: BigInt(revision), position };
};

/** `event_store.client.streams.BatchAppendResp`. @throws RangeError it is cut off */
export const decodeAppendAnswer = (bytes: Buffer): AppendAnswer => {
  const fields = new Fields(bytes);
  let id = '';
  let result: AppendResult | undefined;
  for (let number = fields.next(); number !== 0; number = fields.next()) {
    if (number === 1) id = idOf(fields.message());
    else if (number === 3) result = resultIn(fields.message());
  }
  return result
    ? { id, result }
    : { id, refusal: streams.BatchAppendResp.deserializeBinary(bytes).getError() };
};
