import {
  DamagedEventError,
  OutcomeUnknownError,
  StoreUnavailableError,
} from '../../../application/ports/event-store.ts';
import type {
  AppendResult,
  EventStore,
  EventSubscription,
  EventToAppend,
  KeyClaim,
  RecordedEvent,
  StreamRevision,
  SubscribeOptions,
  SubscriptionMessage,
} from '../../../application/ports/event-store.ts';
import type { Logger } from '../../../application/ports/logger.ts';
import { messageOf } from '../../../application/support/failures.ts';
import { TurnLimit } from '../../support/time.ts';
import { encodeAppend, resultOfAppend, toRevision } from './event-log-writer.ts';
import type { AppendReply, Row } from './event-log-writer.ts';
import { EventLogReader, LogTail, RecentEvents } from './event-log-reader.ts';
import type { AppendWriter, OpenedEventLog, SqliteEventStoreOptions } from './event-log-threads.ts';
import { closeEventLogOf, openEventLogBeside, openEventLogOf } from './event-log-threads.ts';
import type { LogSource } from './log-subscription.ts';
import { followFile } from './log-subscription.ts';

/**
 * The event store of the embedded profile: one SQLite file, written by a thread of its own, so that a slow disk stalls nothing
 * but appends, and read where it is asked. Other processes may have the same file open.
 */
export class SqliteEventStore implements EventStore, EventSubscription {
  readonly #log: OpenedEventLog;
  readonly #reader: EventLogReader;
  readonly #turn = new TurnLimit();
  readonly #recent: RecentEvents;
  readonly #tail: LogTail;
  readonly #source: LogSource;
  readonly #closeGraceMs: number;
  readonly #closing = new AbortController();
  readonly #listeners: ((position: number) => void)[] = [];
  #subscribers = 0;

  private constructor(log: OpenedEventLog, options: SqliteEventStoreOptions) {
    this.#log = log;
    this.#reader = new EventLogReader(log.reader.database);
    this.#closeGraceMs = options.closeGraceMs ?? 5_000;
    this.#recent = new RecentEvents(0);
    this.#tail = new LogTail(this.#recent, this.#reader);
    this.#source = {
      recent: this.#recent,
      logger: options.logger,
      page: (after, limit, prefix) => this.#read((reader) => reader.page(after, limit, prefix)),
    };
  }

  /**
   * Opens `events.db` in the directory; both are created when missing, an older schema is brought up to date.
   * @throws StoreUnavailableError it cannot be opened, or a newer program has written it; the message says which
   */
  static async open(dataDir: string, options: SqliteEventStoreOptions = {}): Promise<SqliteEventStore> {
    return new SqliteEventStore(await openEventLogOf(dataDir, options), options);
  }

  /** The same in another thread of a process that has the log open already: its appends go through that one's writer. */
  static beside(dataDir: string, writer: AppendWriter, logger?: Logger): SqliteEventStore {
    return new SqliteEventStore(openEventLogBeside(dataDir, writer), logger ? { logger } : {});
  }

  async read(
    stream: string,
    from = 0n,
  ): Promise<{ events: readonly RecordedEvent[]; revision: StreamRevision }> {
    const { events, revision } = await this.#read((reader) => reader.stream(stream, Number(from)));
    return { events, revision: toRevision(revision) };
  }

  async head(stream: string): Promise<StreamRevision> {
    return toRevision(await this.#read((reader) => reader.head(stream)));
  }

  byId(id: string): Promise<RecordedEvent | undefined> {
    return this.#read((reader) => reader.byId(id));
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
    const reply = await this.#log.writer.call(encodeAppend(stream, expected, events, claim), characters);
    const result = resultOfAppend(reply, stream, expected);
    this.advanceTo(Number(result.position));
    return result;
  }

  /** Carries out an append that another thread has encoded; what becomes of it is in the reply. */
  async carryOut(append: Row, characters: number): Promise<AppendReply> {
    try {
      const reply = await this.#log.writer.call(append, characters);
      if (reply[0] === 'stored') this.advanceTo(reply[2]);
      return reply;
    } catch (error) {
      return [error instanceof OutcomeUnknownError ? 'unknown' : 'unavailable', messageOf(error)];
    }
  }

  /** The log is known to reach this position: subscribers of this store are served up to there at once. */
  advanceTo(position: number): void {
    this.#tail.advanceTo(position);
    for (const listener of this.#listeners) listener(position);
  }

  /** Calls back with the position after each append that is made through this store. */
  onAppended(listener: (position: number) => void): void {
    this.#listeners.push(listener);
  }

  async findClaim(claim: KeyClaim): Promise<string | undefined> {
    return this.#read((reader) => reader.claimHolder(claim));
  }

  async *subscribe(options: SubscribeOptions): AsyncGenerator<SubscriptionMessage, void, undefined> {
    const signal = AbortSignal.any([options.signal, this.#closing.signal]);
    if (signal.aborted) return;
    const leave = this.#join();
    // A consumer that aborts may never ask for another message, so `finally` alone would not do.
    signal.addEventListener('abort', leave);
    try {
      yield* followFile(this.#source, options, signal);
    } finally {
      signal.removeEventListener('abort', leave);
      leave();
    }
  }

  /** Ends the subscriptions, finishes the appends that wait, and leaves one tidy file behind. */
  async close(): Promise<void> {
    this.#closing.abort();
    await closeEventLogOf(this.#log, this.#closeGraceMs);
  }

  /** @throws StoreUnavailableError */
  async #read<Answer>(ask: (reader: EventLogReader) => Answer): Promise<Answer> {
    await this.#turn.pass();
    if (!this.#log.reader.isOpen) throw new StoreUnavailableError('the event store is closed');
    try {
      return ask(this.#reader);
    } catch (error) {
      if (error instanceof DamagedEventError) throw error;
      throw new StoreUnavailableError(messageOf(error), { cause: error });
    }
  }

  /** Counts a subscriber in; the answer counts it out, once. */
  #join(): () => void {
    let joined = true;
    this.#subscribers += 1;
    this.#tail.watch();
    return () => {
      if (!joined) return;
      joined = false;
      this.#subscribers -= 1;
      if (this.#subscribers > 0) return;
      this.#tail.rest();
    };
  }
}
