import { randomUUID } from 'node:crypto';
import type { LogFile } from './log-file.ts';

/** An event as the stand-in keeps it. Bytes are never looked into. */
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
  /** Hundreds of nanoseconds since 1970. */
  readonly created: string;
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

type Decision = AppendOutcome | { readonly kind: 'store' };

interface Waiting {
  readonly request: AppendRequest;
  readonly answer: (outcome: AppendOutcome) => void;
}

const RECORD_OVERHEAD = 64;
const FIRST_POSITION = 1_000;
const TOMBSTONE = '$streamDeleted';

/** The metadata of a stream is the last event of a stream of its own. */
export const metastreamOf = (stream: string): string => `$$${stream}`;

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

/** Below the head it may be a repetition: the same ids at the same places, all of them. */
const repetitionOf = (
  stored: readonly StoredEvent[],
  at: number,
  events: readonly ProposedEvent[],
): AppendOutcome | undefined => {
  const places = events.map((_, index) => stored[at + 1 + index]);
  const last = places.at(-1);
  const same = places.every((place, index) => place?.id === events[index]?.id);
  return same && last ? { kind: 'success', revision: last.revision, position: last.position } : undefined;
};

/**
 * The log with the server's rules for appends: what it does with a revision, and when it takes an append for a repetition.
 * Appends of one turn share a write and a flush to disk, and nobody sees an event before that.
 */
export class EventLog {
  readonly events: StoredEvent[] = [];
  readonly #streams = new Map<string, StoredEvent[]>();
  readonly #byId = new Map<string, StoredEvent>();
  readonly #file: LogFile | undefined;
  readonly #listeners = new Set<() => void>();
  #waiting: Waiting[] = [];
  #end = FIRST_POSITION;

  /** @param file without one the log lives as long as the process */
  constructor(file?: LogFile) {
    this.#file = file;
    for (const { stream, created, events } of file?.load() ?? []) this.#add(stream, created, events);
  }

  stream(name: string): readonly StoredEvent[] {
    return this.#streams.get(name) ?? [];
  }

  /** What a reader sees of a stream: undefined when it is absent or was deleted. */
  shown(name: string): readonly StoredEvent[] | undefined {
    const stored = this.stream(name);
    const { $maxCount = stored.length, $tb = 0 } = this.#metadataOf(name);
    const from = Math.max($tb, stored.length - $maxCount);
    const shown = stored.slice(from);
    return shown.length === 0 ? undefined : shown;
  }

  isTombstoned(name: string): boolean {
    return this.stream(name).at(-1)?.type === TOMBSTONE;
  }

  /** Where among all events the one at this position stands. */
  indexOf(position: number): number | undefined {
    const index = this.firstBehind(position - 1);
    return this.events[index]?.position === position ? index : undefined;
  }

  /** Index of the first event behind that position; the number of events when there is none. */
  firstBehind(position: number): number {
    let [low, high] = [0, this.events.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.events[middle]!.position > position) high = middle;
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
    const kept = this.events.filter((event) => event.position <= position);
    this.events.length = 0;
    this.#streams.clear();
    this.#byId.clear();
    this.#end = FIRST_POSITION;
    for (const event of kept) this.#add(event.stream, event.created, [event]);
  }

  /** Hides every event of the stream; later ones go on at the next revision. */
  delete(stream: string): Promise<AppendOutcome> {
    const data = Buffer.from(JSON.stringify({ $tb: this.stream(stream).length }));
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
    const created = String(BigInt(Date.now()) * 10_000n);
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

  #isDeleted(stream: string): boolean {
    const { length } = this.stream(stream);
    return length > 0 && this.#metadataOf(stream).$tb === length;
  }

  #metadataOf(stream: string): StreamMetadata {
    const last = this.stream(metastreamOf(stream)).at(-1);
    return last ? (JSON.parse(last.data.toString('utf8')) as StreamMetadata) : {};
  }

  #decide({ stream, expected, events }: AppendRequest): Decision {
    if (this.isTombstoned(stream)) return { kind: 'stream_deleted' };
    const stored = this.stream(stream);
    const current = stored.length - 1;
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
    return at === current ? { kind: 'store' } : (repetitionOf(stored, at, events) ?? refused);
  }

  /** Without a revision, ids that the stream has seen make a repetition. */
  #knownByIds(stream: string, events: readonly ProposedEvent[]): AppendOutcome | undefined {
    const known = events.map(({ id }) => this.#byId.get(id));
    if (known[0]?.stream !== stream) return undefined;
    const last = known.at(-1);
    if (last && known.every((event) => event?.stream === stream))
      return { kind: 'success', revision: last.revision, position: last.position };
    return { kind: 'wrong_expected_version', current: this.stream(stream).length - 1 };
  }

  #add(stream: string, created: string, events: readonly ProposedEvent[]): AppendOutcome {
    const stored = this.#streams.get(stream) ?? [];
    this.#streams.set(stream, stored);
    let [revision, position] = [stored.length - 1, this.#end];
    for (const event of events) {
      revision = stored.length;
      position = this.#end;
      const record = { ...event, stream, revision, position, created };
      this.#end += RECORD_OVERHEAD + event.data.length + event.metadata.length;
      stored.push(record);
      this.events.push(record);
      this.#byId.set(event.id, record);
    }
    return { kind: 'success', revision, position };
  }
}
