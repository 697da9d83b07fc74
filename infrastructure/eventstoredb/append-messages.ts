import type { Status } from '@eventstore/db-client/generated/status_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import type {
  AppendResult,
  EventToAppend,
  LogPosition,
  StreamRevision,
} from '../../application/ports/event-store.ts';
import { encodeEvent, toLogPosition } from './event-wire.ts';
import { Fields, field, idOf, numberField, pairIn, textField } from './protobuf.ts';
import type { Pieces } from './protobuf.ts';

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
