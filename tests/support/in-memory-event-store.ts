import { metadataOf } from '../../application/event-codec/event-codec.ts';
import { ConcurrencyError, KeyAlreadyClaimedError } from '../../application/ports/event-store.ts';
import type {
  AppendResult,
  EventStore,
  EventSubscription,
  EventToAppend,
  KeyClaim,
  LogPlaces,
  LogPosition,
  PlacedEvents,
  RecordedEvent,
  StreamRevision,
  SubscribeOptions,
  SubscriptionMessage,
} from '../../application/ports/event-store.ts';

const copy = (event: EventToAppend): EventToAppend => ({
  ...(JSON.parse(JSON.stringify(event)) as EventToAppend),
  metadata: metadataOf(JSON.stringify(event.metadata)),
});

export const claimId = ({ applicationId, endpoint, key }: KeyClaim): string =>
  JSON.stringify([applicationId, endpoint, key]);

/** Not a bare number, so that no test comes to rely on what a position looks like. */
const toPosition = (index: number): LogPosition => `${index}/${index}` as LogPosition;

const toIndex = (position: LogPosition | 'start'): number => {
  if (position === 'start') return 0;
  if (!/^\d+\/\d+$/.test(position)) throw new RangeError(`${position} is not a position of this event store`);
  return parseInt(position, 10);
};

export const nextRevision = (expected: StreamRevision): bigint =>
  expected === 'no_stream' ? 0n : expected + 1n;

/** A whole event store in memory, for tests: the same guarantees as the real ones, apart from surviving the process. */
export class InMemoryEventStore implements EventStore, EventSubscription, LogPlaces, PlacedEvents {
  protected readonly log: RecordedEvent[] = [];
  readonly #streams = new Map<string, RecordedEvent[]>();
  protected readonly claims = new Map<string, string>();
  readonly #waiters = new Set<() => void>();

  async read(
    stream: string,
    from = 0n,
  ): Promise<{ events: readonly RecordedEvent[]; revision: StreamRevision }> {
    const events = this.streamEvents(stream).filter(({ revision }) => revision >= from);
    return { events, revision: this.revisionOf(stream) };
  }

  async head(stream: string): Promise<StreamRevision> {
    return this.revisionOf(stream);
  }

  async at(stream: string, revision: bigint): Promise<RecordedEvent | undefined> {
    return this.streamEvents(stream)[Number(revision)];
  }

  async end(): Promise<LogPosition | 'start'> {
    return this.log.at(-1)?.position ?? 'start';
  }

  async findClaim(claim: KeyClaim): Promise<string | undefined> {
    return this.claims.get(claimId(claim));
  }

  async append(
    stream: string,
    expected: StreamRevision,
    events: readonly EventToAppend[],
    claim?: KeyClaim,
  ): Promise<AppendResult> {
    if (events.length === 0) throw new RangeError(`an append to ${stream} holds no event`);
    const earlier = this.earlierResult(stream, expected, events);
    if (earlier) return earlier;
    this.checkRevision(stream, expected);
    if (claim) this.checkClaim(claim);
    this.checkIds(events);
    if (claim) this.claims.set(claimId(claim), stream);
    return this.store(stream, nextRevision(expected), events);
  }

  async ensureHas(position: LogPosition): Promise<void> {
    if (toIndex(position) > this.log.length) throw new RangeError(`position ${position} lies beyond the end`);
  }

  async *subscribe(options: SubscribeOptions): AsyncGenerator<SubscriptionMessage, void, undefined> {
    const { signal, streamPrefix = '', batchSize = 500 } = options;
    let at = toIndex(options.from);
    let caughtUp = false;
    while (!signal.aborted) {
      const scanned = this.log.slice(at, at + Math.max(1, batchSize));
      const events = scanned.filter(({ stream }) => stream.startsWith(streamPrefix));
      at += scanned.length;
      const checkpoint = events.at(-1)?.position ?? toPosition(at);
      if (scanned.length > 0) {
        caughtUp = false;
        yield events.length > 0 ? { kind: 'events', events, checkpoint } : { kind: 'checkpoint', checkpoint };
        if (checkpoint !== toPosition(at) && !signal.aborted)
          yield { kind: 'checkpoint', checkpoint: toPosition(at) };
      } else if (!caughtUp) {
        caughtUp = true;
        yield { kind: 'caught_up' };
      } else await this.nextAppend(signal, at);
    }
  }

  protected streamEvents(stream: string): readonly RecordedEvent[] {
    return this.#streams.get(stream) ?? [];
  }

  protected revisionOf(stream: string): StreamRevision {
    return this.streamEvents(stream).at(-1)?.revision ?? 'no_stream';
  }

  protected earlierResult(
    stream: string,
    expected: StreamRevision,
    events: readonly EventToAppend[],
  ): AppendResult | undefined {
    const first = Number(nextRevision(expected));
    const stored = this.streamEvents(stream).slice(first, first + events.length);
    const last = stored.at(-1);
    const same =
      stored.length === events.length && stored.every((event, index) => event.id === events[index]?.id);
    return last && same ? { revision: last.revision, position: last.position } : undefined;
  }

  protected checkRevision(stream: string, expected: StreamRevision): void {
    const actual = this.revisionOf(stream);
    if (actual !== expected) throw new ConcurrencyError(stream, expected, actual);
  }

  protected checkClaim(claim: KeyClaim): void {
    const holder = this.claims.get(claimId(claim));
    if (holder !== undefined) throw new KeyAlreadyClaimedError(holder);
  }

  protected checkIds(events: readonly EventToAppend[]): void {
    const ids = new Set(events.map(({ id }) => id));
    const taken = this.log.find(({ id }) => ids.has(id));
    if (taken) throw new Error(`event id ${taken.id} is already stored in stream ${taken.stream}`);
    if (ids.size < events.length) throw new Error('an append holds an event id twice');
  }

  protected store(stream: string, first: bigint, events: readonly EventToAppend[]): AppendResult {
    let revision = first - 1n;
    const stored = this.#streams.get(stream) ?? [];
    this.#streams.set(stream, stored);
    for (const event of events) {
      revision += 1n;
      const recorded = { ...copy(event), stream, revision, position: toPosition(this.log.length + 1) };
      this.log.push(recorded);
      stored.push(recorded);
    }
    for (const wake of this.#waiters) wake();
    return { revision, position: toPosition(this.log.length) };
  }

  protected nextAppend(signal: AbortSignal, at: number): Promise<void> {
    return new Promise((resolve) => {
      const finish = (): void => {
        this.#waiters.delete(finish);
        signal.removeEventListener('abort', finish);
        resolve();
      };
      this.#waiters.add(finish);
      signal.addEventListener('abort', finish);
      if (signal.aborted || this.log.length > at) finish();
    });
  }
}
