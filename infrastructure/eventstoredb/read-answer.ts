import type {
  EventMetadata,
  JsonText,
  LogPosition,
  RecordedEvent,
} from '../../application/ports/event-store.ts';
import { NOWHERE, toLogPosition } from './event-wire.ts';
import { Fields, idOf, pairIn } from './protobuf.ts';

/** What the server says in answer to a read or on a subscription, a message at a time. */
export type ReadAnswer =
  | { readonly kind: 'event'; readonly event: RecordedEvent }
  | { readonly kind: 'checkpoint'; readonly checkpoint: LogPosition }
  | { readonly kind: 'caught_up' }
  | { readonly kind: 'fell_behind' }
  | { readonly kind: 'confirmed' }
  | { readonly kind: 'absent' }
  | { readonly kind: 'other' };

const NO_METADATA: EventMetadata = {
  correlationId: '',
  causationId: '',
  actor: '',
  applicationId: '',
  recordedAt: '',
  hash: '',
};

/** Events that others wrote into our streams come without our metadata; the hash chain tells them from ours. */
const metadataOf = (text: string): EventMetadata => {
  try {
    const metadata: unknown = JSON.parse(text);
    return typeof metadata === 'object' && metadata !== null ? (metadata as EventMetadata) : NO_METADATA;
  } catch {
    return NO_METADATA;
  }
};

const streamOf = (fields: Fields): string => {
  let name = '';
  for (let field = fields.next(); field !== 0; field = fields.next()) {
    if (field === 3) name = fields.text();
    else fields.skip();
  }
  return name;
};

/** Of the server's own notes beside an event, only its type is of interest. */
const typeIn = (fields: Fields, known: string): string => {
  let [key, value] = ['', ''];
  for (let field = fields.next(); field !== 0; field = fields.next()) {
    if (field === 1) key = fields.text();
    else if (field === 2) value = fields.text();
    else fields.skip();
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
    else fields.skip();
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
    else fields.skip();
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
    } else {
      answer = SIMPLE[field] ?? answer;
      fields.skip();
    }
  }
  return answer;
};
