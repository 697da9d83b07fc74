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
  | { readonly kind: 'wrong_expected_version'; readonly current: number | undefined };

type Decision = AppendOutcome | { readonly kind: 'store' };

interface Waiting {
  readonly request: AppendRequest;
  readonly answer: (outcome: AppendOutcome) => void;
}

const RECORD_OVERHEAD = 64;
const FIRST_POSITION = 1_000;

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

  #decide({ stream, expected, events }: AppendRequest): Decision {
    const stored = this.stream(stream);
    const current = stored.length - 1;
    const refused = {
      kind: 'wrong_expected_version',
      current: current < 0 ? undefined : current,
    } as const;
    if (typeof expected === 'string' && expected !== 'no_stream') {
      if (expected === 'stream_exists' && current < 0) return refused;
      return this.#knownByIds(stream, events) ?? { kind: 'store' };
    }
    const at = expected === 'no_stream' ? -1 : expected;
    if (at > current) return refused;
    if (at === current) return { kind: 'store' };
    // Below the head it may be a repetition: the same ids at the same places, all of them.
    const places = events.map((_, index) => stored[at + 1 + index]);
    const last = places.at(-1);
    const same = places.every((place, index) => place?.id === events[index]?.id);
    return same && last ? { kind: 'success', revision: last.revision, position: last.position } : refused;
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
