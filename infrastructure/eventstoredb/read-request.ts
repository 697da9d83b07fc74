import type { Position } from './event-wire.ts';
import { field, numberField, textField } from './protobuf.ts';
import type { Pieces } from './protobuf.ts';

/** Where a read begins, and in which direction it goes: from a place forwards, or from the end backwards. */
type ReadPlace =
  { readonly stream: string; readonly from: bigint | 'end' } | { readonly from: Position | 'end' };

const BACKWARDS = numberField(3, 1n);
const NO_FILTER = field(8);
const IDS_AS_TEXT = field(9, ...field(2));
const STREAM_END = field(4);
const LOG_END = field(3);

const placeOf = (place: ReadPlace): Pieces => {
  if ('stream' in place) {
    const from = place.from === 'end' ? STREAM_END : [numberField(2, place.from)];
    return field(1, ...field(1, ...textField(3, place.stream)), ...from);
  }
  if (place.from === 'end') return field(2, ...LOG_END);
  return field(2, ...field(1, numberField(1, place.from.commit), numberField(2, place.from.prepare)));
};

/** `event_store.client.streams.ReadReq` for so many events at most. */
export const readRequest = (place: ReadPlace, count: number): Buffer => {
  const direction = place.from === 'end' ? [BACKWARDS] : [];
  const options = [
    ...placeOf(place),
    ...direction,
    numberField(5, BigInt(count)),
    ...NO_FILTER,
    ...IDS_AS_TEXT,
  ];
  return Buffer.concat(field(1, ...options));
};
