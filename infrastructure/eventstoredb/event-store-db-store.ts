import { LRUCache } from 'lru-cache';
import type { ClaimLog } from '../../application/audit/check-claims.ts';
import { BusyError } from '../../application/ports/busy-error.ts';
import { StoreUnavailableError } from '../../application/ports/event-store.ts';
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
import type { Logger } from '../../application/ports/logger.ts';
import type { EventStoreWatch } from '../../application/ports/observation.ts';
import { Connection } from './connection.ts';
import { parseConnectionString } from './connection-string.ts';
import { ensureStorable } from './event-wire.ts';
import { CLAIM_STREAM_PREFIX, KeyClaims, claimStream, loggedClaim } from './key-claims.ts';
import { ensureFits, readLog } from './log-reading.ts';
import type { SubscriptionSource } from './log-reading.ts';
import { followLog, OWN_STREAMS, SharedReading } from './log-subscription.ts';
import { tryRights } from './rights.ts';
import { StreamAppender } from './stream-appender.ts';
import { StreamReader } from './stream-reader.ts';
import { placeOf } from './subscription-feed.ts';

const DEFAULTS = {
  /** After so many milliseconds without an answer a node is left. */
  appendTimeoutMs: 4_000,
  /** For so long an append is tried before its caller hears that it failed. */
  patienceMs: 10_000,
  /** For a page of a stream, however often it is tried. */
  readTimeoutMs: 10_000,
  /** Appends that may wait for an answer at a time; more are refused as busy. */
  maxPendingAppends: 1_000,
  /** How long the server may take to confirm a subscription. */
  confirmationMs: 30_000,
  /** Silence taken for having caught up, at servers that never say it. */
  quietMs: 2_000,
  /** Silence after which a subscription is asked for anew. */
  renewAfterMs: 60_000,
  /** A follower hears of it when no subscription worked for so long. */
  unconfirmedMs: 30_000,
};

export interface EventStoreDbOptions extends Partial<Readonly<typeof DEFAULTS>> {
  /** `esdb://` or `esdb+discover://`, with credentials, TLS and everything else that it can say. */
  readonly url: string;
  readonly logger?: Logger;
  /** Asked before each append: what it throws is the append's answer. */
  readonly mayAppend?: () => Promise<void>;
  readonly watch?: EventStoreWatch | undefined;
}

const STREAMS_REMEMBERED = 20_000;
const CLAIMS_AT_ONCE = 500;
/** Of all appends that wait for an answer. */
const MOST_PENDING_BYTES = 64 * 1024 * 1024;

/** The event store of the distributed profile: EventStoreDB 22.10 or later, or KurrentDB. */
export class EventStoreDbStore implements EventStore, EventSubscription, ClaimLog, LogPlaces, PlacedEvents {
  readonly #connection: Connection;
  readonly #reader: StreamReader;
  readonly #appender: StreamAppender;
  readonly #claims: KeyClaims;
  readonly #source: SubscriptionSource;
  readonly #shared: SharedReading;
  readonly #maxPendingAppends: number;
  readonly #closing = new AbortController();
  /** The furthest revision seen of a stream; it only grows. */
  readonly #seen = new LRUCache<string, bigint>({ max: STREAMS_REMEMBERED });
  readonly #pending = new Set<Promise<unknown>>();
  readonly #mayAppend: (() => Promise<void>) | undefined;
  readonly #watch: EventStoreWatch | undefined;
  #pendingBytes = 0;

  /**
   * Connects when first used, and whenever a connection was lost: a server that is away does not matter here.
   * @throws Error the connection string cannot be used
   */
  constructor(options: EventStoreDbOptions) {
    const settings = { ...DEFAULTS, ...options };
    this.#mayAppend = options.mayAppend;
    this.#watch = options.watch;
    this.#connection = new Connection(parseConnectionString(options.url));
    this.#maxPendingAppends = settings.maxPendingAppends;
    this.#reader = new StreamReader(this.#connection, settings.readTimeoutMs);
    this.#appender = new StreamAppender({
      connection: this.#connection,
      reader: this.#reader,
      timeoutMs: settings.appendTimeoutMs,
      patienceMs: settings.patienceMs,
    });
    this.#claims = new KeyClaims(this.#singleStreams());
    this.#source = {
      ...settings,
      connection: this.#connection,
      reader: this.#reader,
      logger: options.logger,
      saysCaughtUp: false,
      slowMoments: 0,
    };
    this.#shared = new SharedReading(this.#source, OWN_STREAMS);
  }

  async read(stream: string, from = 0n) {
    const contents = await this.#reading('read', () => this.#reader.read(stream, from));
    this.#note(stream, contents.revision);
    return contents;
  }

  head(stream: string): Promise<StreamRevision> {
    return this.#reading('head', () => this.#head(stream));
  }

  async at(stream: string, revision: bigint): Promise<RecordedEvent | undefined> {
    return (await this.#reading('read', () => this.#reader.some(stream, revision, 1)))[0];
  }

  async end(): Promise<LogPosition | 'start'> {
    this.#ensureOpen();
    return (await this.#reader.ofLog('end'))?.position ?? 'start';
  }

  /**
   * As the port says; and
   * @throws BusyError too many appends wait already; nothing was sent
   * @throws RangeError no event, or events that the server cannot take; nothing was sent
   */
  append(
    stream: string,
    expected: StreamRevision,
    events: readonly EventToAppend[],
    claim?: KeyClaim,
  ): Promise<AppendResult> {
    const append = (): Promise<AppendResult> => this.#append(stream, expected, events, claim);
    return this.#watch ? this.#watch.append(stream, events, append) : append();
  }

  async #append(
    stream: string,
    expected: StreamRevision,
    events: readonly EventToAppend[],
    claim: KeyClaim | undefined,
  ): Promise<AppendResult> {
    if (this.#mayAppend) await this.#mayAppend();
    const [first, ...others] = events;
    if (!first) throw new RangeError(`an append to ${stream} holds no event`);
    const intent = { stream, expected, events: [first, ...others] as const };
    const result = await this.#admit(ensureStorable(stream, events), () =>
      claim ? this.#claims.append(intent, claim) : this.#appender.append(stream, expected, intent.events),
    );
    this.#note(stream, result.revision);
    return result;
  }

  /** How often the server found that events came faster than they were taken; nothing was lost by that. */
  get slowMoments(): number {
    return this.#source.slowMoments;
  }

  findClaim(claim: KeyClaim): Promise<string | undefined> {
    return this.#reading('find_claim', () => this.#claims.find(claim));
  }

  /** What the service needs, tried in a way that stores nothing. */
  tryRights(patienceMs = 10_000): ReturnType<typeof tryRights> {
    this.#ensureOpen();
    const [appender, reader] = [this.#appender, this.#reader];
    return tryRights({ appender, reader, subscription: this, patienceMs });
  }

  claimKey(claim: KeyClaim): string {
    return claimStream(claim);
  }

  async *claims({ from, signal }: Parameters<ClaimLog['claims']>[0]): ReturnType<ClaimLog['claims']> {
    const ending = AbortSignal.any([signal, this.#closing.signal]);
    const reading = { from, prefixes: [CLAIM_STREAM_PREFIX], batchSize: CLAIMS_AT_ONCE, signal: ending };
    for await (const items of readLog(this.#source, reading)) {
      const events = items.flatMap((item) => (item.kind === 'event' ? [item.event] : []));
      const checkpoint = items.map(placeOf).findLast((place) => place !== undefined);
      if (checkpoint !== undefined) yield { claims: events.map(loggedClaim), checkpoint };
      if (items.some(({ kind }) => kind === 'caught_up')) return;
    }
  }

  async ensureHas(position: LogPosition): Promise<void> {
    this.#ensureOpen();
    await ensureFits(this.#reader, position);
  }

  async *subscribe(options: SubscribeOptions): AsyncGenerator<SubscriptionMessage, void, undefined> {
    const signal = AbortSignal.any([options.signal, this.#closing.signal]);
    yield* followLog(this.#source, this.#shared, options, signal);
  }

  /** Ends the subscriptions, waits for the appends on their way, which takes at most their time-out, and disconnects. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.allSettled(this.#pending);
    this.#shared.close();
    this.#connection.close();
  }

  #ensureOpen(): void {
    if (this.#closing.signal.aborted) throw new StoreUnavailableError('the event store is closed');
  }

  async #reading<Answer>(
    call: Parameters<EventStoreWatch['readFailed']>[0],
    read: () => Promise<Answer>,
  ): Promise<Answer> {
    try {
      this.#ensureOpen();
      return await read();
    } catch (error) {
      this.#watch?.readFailed(call);
      throw error;
    }
  }

  async #head(stream: string): Promise<StreamRevision> {
    const revision = await this.#reader.head(stream);
    this.#note(stream, revision);
    return revision;
  }

  async #admit<Result>(bytes: number, work: () => Promise<Result>): Promise<Result> {
    this.#ensureOpen();
    if (this.#pending.size >= this.#maxPendingAppends || this.#pendingBytes + bytes > MOST_PENDING_BYTES)
      throw new BusyError(`${this.#pending.size} appends wait for EventStoreDB already`);
    this.#pendingBytes += bytes;
    const working = work();
    this.#pending.add(working);
    try {
      return await working;
    } finally {
      this.#pending.delete(working);
      this.#pendingBytes -= bytes;
    }
  }

  #note(stream: string, revision: StreamRevision): void {
    if (revision === 'no_stream') return;
    if (revision > (this.#seen.get(stream) ?? -1n)) this.#seen.set(stream, revision);
  }

  #singleStreams(): ConstructorParameters<typeof KeyClaims>[0] {
    return {
      append: (stream, expected, events) => this.#appender.append(stream, expected, events),
      head: (stream) => this.#reader.head(stream),
      last: (stream) => this.#reader.last(stream),
      at: async (stream, revision) => (await this.#reader.some(stream, revision, 1))[0],
      hasReached: async (stream, revision) =>
        (this.#seen.get(stream) ?? -1n) >= revision || reached(await this.#head(stream), revision),
    };
  }
}

const reached = (head: StreamRevision, revision: bigint): boolean => head !== 'no_stream' && head >= revision;
