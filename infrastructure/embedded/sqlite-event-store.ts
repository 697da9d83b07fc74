import type {
  AppendResult,
  EventStore,
  EventToAppend,
  KeyClaim,
  RecordedEvent,
  StreamRevision,
} from '../../application/ports/event-store.ts';
import type {
  EventSubscription,
  SubscribeOptions,
  SubscriptionMessage,
} from '../../application/ports/event-subscription.ts';
import { encodeAppend, resultOfAppend, toRevision } from './append-wire.ts';
import type { EventLogThreads, SqliteEventStoreOptions } from './event-log-threads.ts';
import { closeThreads, startThreads } from './event-log-threads.ts';
import { ForeignAppends } from './foreign-appends.ts';
import type { LogSource } from './log-cursor.ts';
import { followLog } from './log-subscription.ts';
import { checkRead, decodeEvents, decodePage, toPosition } from './read-wire.ts';
import { RecentEvents } from './recent-events.ts';
import type { Cells } from './thread-protocol.ts';
import { numberCell } from './thread-protocol.ts';

/**
 * The event store of the embedded profile: one SQLite file, written by one thread and read by another, so that neither a slow
 * disk nor a long read stalls requests. Other processes may have the same file open.
 */
export class SqliteEventStore implements EventStore, EventSubscription {
  readonly #threads: EventLogThreads;
  readonly #recent: RecentEvents;
  readonly #foreign: ForeignAppends;
  readonly #source: LogSource;
  readonly #closeGraceMs: number;
  readonly #closing = new AbortController();
  #subscribers = 0;

  private constructor(threads: EventLogThreads, options: SqliteEventStoreOptions) {
    this.#threads = threads;
    this.#closeGraceMs = options.closeGraceMs ?? 5_000;
    this.#recent = new RecentEvents(0);
    this.#foreign = new ForeignAppends(this.#recent, async () => numberCell(await this.#ask(['end']), 1));
    this.#source = {
      recent: this.#recent,
      logger: options.logger,
      page: async (after, limit, prefix) => decodePage(await this.#ask(['page', after, limit, prefix])),
    };
  }

  /**
   * Opens `events.db` in the directory; both are created when missing, an older schema is brought up to date.
   * @throws StoreUnavailableError it cannot be opened, or a newer program has written it; the message says which
   */
  static async open(dataDir: string, options: SqliteEventStoreOptions = {}): Promise<SqliteEventStore> {
    return new SqliteEventStore(await startThreads(dataDir, options), options);
  }

  async read(
    stream: string,
    from = 0n,
  ): Promise<{ events: readonly RecordedEvent[]; revision: StreamRevision }> {
    const reply = await this.#ask(['stream', stream, Number(from)]);
    return { events: decodeEvents(reply, 2), revision: toRevision(numberCell(reply, 1)) };
  }

  async head(stream: string): Promise<StreamRevision> {
    return toRevision(numberCell(await this.#ask(['head', stream]), 1));
  }

  async append(
    stream: string,
    expected: StreamRevision,
    events: readonly EventToAppend[],
    claim?: KeyClaim,
  ): Promise<AppendResult> {
    if (events.length === 0) throw new RangeError(`an append to ${stream} holds no event`);
    let characters = 0;
    for (const { data } of events) characters += data.length;
    const reply = await this.#threads.writer.call(encodeAppend(stream, expected, events, claim), characters);
    const result = resultOfAppend(reply, stream, expected);
    if (reply[0] === 'stored' && this.#subscribers > 0) this.#remember(stream, events, result);
    return result;
  }

  async findClaim(claim: KeyClaim): Promise<string | undefined> {
    const { applicationId, endpoint, key } = claim;
    const holder = (await this.#ask(['claim', applicationId, endpoint, key]))[1];
    return typeof holder === 'string' ? holder : undefined;
  }

  async *subscribe(options: SubscribeOptions): AsyncGenerator<SubscriptionMessage, void, undefined> {
    const signal = AbortSignal.any([options.signal, this.#closing.signal]);
    if (signal.aborted) return;
    const leave = this.#join();
    // A consumer that aborts may never ask for another message, so `finally` alone would not do.
    signal.addEventListener('abort', leave);
    try {
      yield* followLog(this.#source, options, signal);
    } finally {
      signal.removeEventListener('abort', leave);
      leave();
    }
  }

  /** Ends the subscriptions, finishes the appends that wait, and leaves one tidy file behind. */
  async close(): Promise<void> {
    this.#closing.abort();
    await closeThreads(this.#threads, this.#closeGraceMs);
  }

  /** @throws StoreUnavailableError */
  async #ask(request: Cells): Promise<Cells> {
    return checkRead(await this.#threads.reader.call(request));
  }

  #remember(stream: string, events: readonly EventToAppend[], last: AppendResult): void {
    const firstRevision = last.revision - BigInt(events.length - 1);
    const firstPosition = Number(last.position) - (events.length - 1);
    const recorded = events.map((event, index) => ({
      ...event,
      stream,
      revision: firstRevision + BigInt(index),
      position: toPosition(firstPosition + index),
    }));
    this.#recent.push(firstPosition, recorded);
  }

  /** Counts a subscriber in; the answer counts it out, once. */
  #join(): () => void {
    let joined = true;
    this.#subscribers += 1;
    this.#foreign.watch();
    return () => {
      if (!joined) return;
      joined = false;
      this.#subscribers -= 1;
      if (this.#subscribers > 0) return;
      this.#foreign.rest();
      this.#recent.forget();
    };
  }
}
