import type {
  EventMetadata,
  JsonText,
  LogPosition,
  RecordedEvent,
} from '../../application/ports/event-store.ts';
import { NOWHERE } from './event-wire.ts';

/** What the server says in answer to a read or on a subscription, a message at a time. */
export type ReadAnswer =
  | { readonly kind: 'event'; readonly event: RecordedEvent }
  | { readonly kind: 'checkpoint'; readonly checkpoint: LogPosition }
  | { readonly kind: 'caught_up' }
  | { readonly kind: 'fell_behind' }
  | { readonly kind: 'confirmed' }
  | { readonly kind: 'absent' }
  | { readonly kind: 'other' };

const CUT_OFF = 'a message of EventStoreDB is cut off';

/**
 * The fields of one message of Protocol Buffers, one after the other. Events are most of what this process hears, and the generated
 * classes cost several times as much: an object with accessors for each message in a message, and a map for two words.
 */
class Fields {
  readonly #bytes: Buffer;
  readonly #end: number;
  #at: number;
  #wireType = 0;

  constructor(bytes: Buffer, from = 0, end = bytes.length) {
    if (end > bytes.length) throw new RangeError(CUT_OFF);
    this.#bytes = bytes;
    this.#at = from;
    this.#end = end;
  }

  /** Number of the next field; 0 at the end. What was not taken of the one before has to be skipped. */
  next(): number {
    if (this.#at >= this.#end) return 0;
    const tag = Number(this.number());
    this.#wireType = tag & 7;
    return tag >>> 3;
  }

  /** A number without a sign; a bigint where others would lose digits. */
  number(): number | bigint {
    let value = 0;
    let factor = 1;
    const from = this.#at;
    for (;;) {
      if (this.#at >= this.#end) throw new RangeError(CUT_OFF);
      const byte = this.#bytes[this.#at++]!;
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return factor < 2 ** 46 ? value : this.#largeNumber(from);
      factor *= 128;
    }
  }

  message(): Fields {
    const length = Number(this.number());
    const from = this.#at;
    this.#at += length;
    if (this.#at > this.#end) throw new RangeError(CUT_OFF);
    return new Fields(this.#bytes, from, this.#at);
  }

  text(): string {
    const { from, to } = this.#stretch();
    return this.#bytes.toString('utf8', from, to);
  }

  skip(): void {
    if (this.#wireType === 0) this.number();
    else if (this.#wireType === 2) this.#stretch();
    else this.#at += this.#wireType === 1 ? 8 : 4;
  }

  #stretch(): { readonly from: number; readonly to: number } {
    const length = Number(this.number());
    const from = this.#at;
    this.#at += length;
    if (this.#at > this.#end) throw new RangeError(CUT_OFF);
    return { from, to: this.#at };
  }

  #largeNumber(from: number): bigint {
    let value = 0n;
    for (let i = this.#at - 1; i >= from; i--) value = (value << 7n) | BigInt(this.#bytes[i]! & 0x7f);
    return BigInt.asUintN(64, value);
  }
}

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

const hexadecimal = (bits: number | bigint): string => BigInt(bits).toString(16).padStart(16, '0');

/** Servers write ids as text when asked to, and otherwise as two numbers. */
const idOf = (fields: Fields): string => {
  let text = '';
  for (let field = fields.next(); field !== 0; field = fields.next()) {
    if (field === 2) text = fields.text();
    else if (field === 1) text = structuredId(fields.message());
    else fields.skip();
  }
  return text;
};

const structuredId = (fields: Fields): string => {
  let [most, least]: [number | bigint, number | bigint] = [0, 0];
  for (let field = fields.next(); field !== 0; field = fields.next()) {
    if (field === 1) most = fields.number();
    else if (field === 2) least = fields.number();
    else fields.skip();
  }
  const digits = hexadecimal(most) + hexadecimal(least);
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
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
  (commit === NOWHERE ? 'unknown' : `${commit}/${prepare}`) as LogPosition;

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

const checkpointIn = (fields: Fields): ReadAnswer => {
  let [commit, prepare]: [number | bigint, number | bigint] = [0, 0];
  for (let field = fields.next(); field !== 0; field = fields.next()) {
    if (field === 1) commit = fields.number();
    else if (field === 2) prepare = fields.number();
    else fields.skip();
  }
  return { kind: 'checkpoint', checkpoint: `${commit}/${prepare}` as LogPosition };
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
    } else if (field === 3) answer = checkpointIn(fields.message());
    else {
      answer = SIMPLE[field] ?? answer;
      fields.skip();
    }
  }
  return answer;
};
