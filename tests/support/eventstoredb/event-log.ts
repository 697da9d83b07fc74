import { randomUUID } from 'node:crypto';
import { EventColumns } from './event-columns.ts';
import type { LogFile } from './log-file.ts';

/** An event of the log. Bytes are never looked into. */
export interface StoredEvent {
  readonly id: string;
  readonly type: string;
  readonly contentType: string;
  readonly data: Buffer;
  readonly metadata: Buffer;
  readonly stream: string;
  readonly revision: number;
  /** Place in the log in bytes, as in the real one: growing, with gaps. */
  readonly position: number;
  /** Milliseconds since 1970. */
  readonly created: number;
}

export type ProposedEvent = Pick<StoredEvent, 'id' | 'type' | 'contentType' | 'data' | 'metadata'>;
export type ExpectedRevision = number | 'no_stream' | 'any' | 'stream_exists';

export interface AppendRequest {
  readonly stream: string;
  readonly expected: ExpectedRevision;
  readonly events: readonly ProposedEvent[];
}

export type AppendOutcome =
  | { readonly kind: 'success'; readonly revision: number; readonly position: number }
  | { readonly kind: 'wrong_expected_version'; readonly current: number | undefined }
  | { readonly kind: 'stream_deleted' };

/** A stream's name, and where in the log its events stand, by revision. */
interface Stream {
  readonly name: string;
  readonly places: number[];
}

type Decision = AppendOutcome | { readonly kind: 'store' };

interface Waiting {
  readonly request: AppendRequest;
  readonly answer: (outcome: AppendOutcome) => void;
}

const RECORD_OVERHEAD = 64;
const FIRST_POSITION = 1_000;
const TOMBSTONE = '$streamDeleted';

/** The metadata of a stream is the last event of a stream of its own. */
const metastreamOf = (stream: string): string => `$$${stream}`;

interface StreamMetadata {
  readonly $maxCount?: number;
  /** Revisions below it are not shown; the largest there is once the stream was deleted. */
  readonly $tb?: number;
}

const systemEvent = (type: string, data: Buffer): ProposedEvent => ({
  id: randomUUID(),
  type,
  contentType: 'application/json',
  data,
  metadata: Buffer.alloc(0),
});

/**
 * The log with the server's rules for appends: what it does with a revision, and when it takes an append for a repetition.
 * Appends of one turn share a write and a flush to disk, and nobody sees an event before that. Millions of events have to fit into
 * memory: each is a place in columns, and an object only for whoever looks at it.
 */
export class EventLog {
  #columns = new EventColumns();
  #streams = new Map<string, Stream>();
  /** Where the event with that id stands. */
  #byId = new Map<string, number>();
  readonly #file: LogFile | undefined;
  readonly #listeners = new Set<() => void>();
  #waiting: Waiting[] = [];
  #end = FIRST_POSITION;

  /** @param file without one the log lives as long as the process */
  constructor(file?: LogFile) {
    this.#file = file;
    for (const { stream, created, events } of file?.load() ?? []) this.#add(stream, created, events);
  }

  get size(): number {
    return this.#columns.size;
  }

  /** All of them: for logs of a test's size. */
  get events(): readonly StoredEvent[] {
    return this.slice(0, this.size);
  }

  event(place: number): StoredEvent {
    return this.#columns.at(place);
  }

  slice(from: number, to: number): readonly StoredEvent[] {
    const length = Math.max(0, Math.min(to, this.size) - from);
    return Array.from({ length }, (_, index) => this.event(from + index));
  }

  stream(name: string): readonly StoredEvent[] {
    return this.#placesOf(name).map((place) => this.event(place));
  }

  /** Where the events of a stream stand that a reader sees of it, by revision: none when it is absent or was deleted. */
  shown(name: string): readonly number[] {
    const places = this.#placesOf(name);
    const { $maxCount = places.length, $tb = 0 } = this.#metadataOf(name);
    return places.slice(Math.max($tb, places.length - $maxCount));
  }

  isTombstoned(name: string): boolean {
    const last = this.#placesOf(name).at(-1);
    return last !== undefined && this.event(last).type === TOMBSTONE;
  }

  /** Whether an event stands at exactly this position. */
  hasEventAt(position: number): boolean {
    const place = this.firstBehind(position - 1);
    return place < this.size && this.#columns.positions[place] === position;
  }

  /** Place of the first event behind that position; the number of events when there is none. */
  firstBehind(position: number): number {
    let [low, high] = [0, this.size];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#columns.positions[middle]! > position) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** Where the next event will stand. */
  get end(): number {
    return this.#end;
  }

  /** What stood behind that position never was, as after a restore of an older backup. */
  cutBehind(position: number): void {
    const kept = this.slice(0, this.firstBehind(position));
    this.#columns = new EventColumns();
    this.#streams = new Map();
    this.#byId = new Map();
    this.#end = FIRST_POSITION;
    for (const event of kept) this.#add(event.stream, event.created, [event]);
  }

  /** Hides every event of the stream; later ones go on at the next revision. */
  delete(stream: string): Promise<AppendOutcome> {
    const data = Buffer.from(JSON.stringify({ $tb: this.#placesOf(stream).length }));
    return this.append({
      stream: metastreamOf(stream),
      expected: 'any',
      events: [systemEvent('$metadata', data)],
    });
  }

  /** Nothing is read from the stream or appended to it ever again. */
  tombstone(stream: string): Promise<AppendOutcome> {
    return this.append({ stream, expected: 'any', events: [systemEvent(TOMBSTONE, Buffer.from('{}'))] });
  }

  append(request: AppendRequest): Promise<AppendOutcome> {
    return new Promise((answer) => {
      this.#waiting.push({ request, answer });
      if (this.#waiting.length === 1) setImmediate(() => this.#flush());
    });
  }

  /** Calls back after each write until the answer is called. */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #flush(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    const created = Date.now();
    const outcomes = waiting.map(({ request }) => {
      const decision = this.#decide(request);
      if (decision.kind !== 'store') return decision;
      this.#file?.write({ stream: request.stream, created, events: request.events });
      return this.#add(request.stream, created, request.events);
    });
    this.#file?.sync();
    waiting.forEach(({ answer }, index) => answer(outcomes[index]!));
    for (const listener of [...this.#listeners]) listener();
  }

  #placesOf(name: string): readonly number[] {
    return this.#streams.get(name)?.places ?? [];
  }

  #isDeleted(stream: string): boolean {
    const { length } = this.#placesOf(stream);
    return length > 0 && this.#metadataOf(stream).$tb === length;
  }

  #metadataOf(stream: string): StreamMetadata {
    const last = this.#placesOf(metastreamOf(stream)).at(-1);
    return last === undefined ? {} : (JSON.parse(this.event(last).data.toString('utf8')) as StreamMetadata);
  }

  #decide({ stream, expected, events }: AppendRequest): Decision {
    if (this.isTombstoned(stream)) return { kind: 'stream_deleted' };
    const current = this.#placesOf(stream).length - 1;
    if (expected === 'no_stream' && this.#isDeleted(stream)) return { kind: 'store' };
    const refused = {
      kind: 'wrong_expected_version',
      current: current < 0 ? undefined : current,
    } as const;
    if (expected === 'stream_exists' && current < 0) return refused;
    if (expected === 'any' || expected === 'stream_exists')
      return this.#knownByIds(stream, events) ?? { kind: 'store' };
    const at = expected === 'no_stream' ? -1 : expected;
    if (at > current) return refused;
    return at === current ? { kind: 'store' } : (this.#repetition(stream, at, events) ?? refused);
  }

  /** Below the head it may be a repetition: the same ids at the same places, all of them. */
  #repetition(stream: string, at: number, events: readonly ProposedEvent[]): AppendOutcome | undefined {
    const places = this.#placesOf(stream).slice(at + 1, at + 1 + events.length);
    const same = events.every(
      ({ id }, index) => places[index] !== undefined && this.event(places[index]).id === id,
    );
    const last = places.at(-1);
    return same && last !== undefined ? this.#stored(last) : undefined;
  }

  /** Without a revision, ids that the stream has seen make a repetition. */
  #knownByIds(stream: string, events: readonly ProposedEvent[]): AppendOutcome | undefined {
    const known = events.map(({ id }) => this.#byId.get(id));
    const inStream = known.map((place) => place !== undefined && this.event(place).stream === stream);
    if (inStream[0] !== true) return undefined;
    if (inStream.every(Boolean)) return this.#stored(known.at(-1)!);
    return { kind: 'wrong_expected_version', current: this.#placesOf(stream).length - 1 };
  }

  #stored(place: number): AppendOutcome {
    const { revision, position } = this.event(place);
    return { kind: 'success', revision, position };
  }

  #add(name: string, created: number, events: readonly ProposedEvent[]): AppendOutcome {
    const stream = this.#streams.get(name) ?? { name, places: [] };
    this.#streams.set(stream.name, stream);
    let [revision, position] = [stream.places.length - 1, this.#end];
    for (const event of events) {
      revision = stream.places.length;
      position = this.#end;
      this.#end += RECORD_OVERHEAD + event.data.length + event.metadata.length;
      stream.places.push(this.size);
      this.#byId.set(event.id, this.size);
      this.#columns.add({ ...event, stream: stream.name, revision, position, created });
    }
    return { kind: 'success', revision, position };
  }
}
