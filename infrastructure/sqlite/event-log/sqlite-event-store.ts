import {
  DamagedStoreError,
  OutcomeUnknownError,
  StoreUnavailableError,
} from '../../../application/ports/event-store.ts';
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
} from '../../../application/ports/event-store.ts';
import type { EventStoreWatch } from '../../../application/ports/observation.ts';
import { messageOf } from '../../../application/support/failures.ts';
import { TurnLimit } from '../../support/time.ts';
import { isDamaged, unusable } from '../connection.ts';
import type { Connection } from '../connection.ts';
import { encodeAppend, resultOfAppend, toRevision } from './event-log-writer.ts';
import type { AppendReply, Row } from './event-log-writer.ts';
import { EventLogReader, SharedReading, toPosition } from './event-log-reader.ts';
import type { AppendWriter, SqliteEventStoreOptions } from './event-log-threads.ts';
import { openEventLogOf } from './event-log-threads.ts';
import type { LogSource } from './log-subscription.ts';
import { ensureReaches, followFile } from './log-subscription.ts';

/**
 * The event store of the embedded profile: one SQLite file, written by a thread of its own, so that a slow disk stalls nothing
 * but appends, and read where it is asked. Other processes may have the same file open.
 */
export class SqliteEventStore implements EventStore, EventSubscription, LogPlaces, PlacedEvents {
  readonly #writer: AppendWriter;
  readonly #connection: Connection;
  readonly #reader: EventLogReader;
  readonly #turn = new TurnLimit();
  readonly #shared: SharedReading;
  readonly #source: LogSource;
  readonly #options: SqliteEventStoreOptions;
  readonly #closing = new AbortController();
  readonly #listeners: ((position: number) => void)[] = [];

  private constructor(writer: AppendWriter, connection: Connection, options: SqliteEventStoreOptions) {
    this.#writer = writer;
    this.#connection = connection;
    this.#reader = new EventLogReader(connection.database);
    this.#options = options;
    this.#shared = new SharedReading(this.#reader);
    this.#source = {
      tail: this.#shared.tail,
      logger: options.logger,
      page: (after, limit, prefix) =>
        this.#read((reader) => reader.page(after, limit, prefix), `after position ${after}`),
    };
  }

  /**
   * Opens `events.db` in the directory; both are created when missing, an older schema is brought up to date.
   * @param beside in a further thread of a process: the writer of the thread that opened it first, through which appends go
   * @throws StoreUnavailableError it cannot be opened, or a newer program has written it; the message says which
   */
  static async open(
    dataDir: string,
    options: SqliteEventStoreOptions = {},
    beside?: AppendWriter,
  ): Promise<SqliteEventStore> {
    return new SqliteEventStore(...(await openEventLogOf(dataDir, options, beside)), options);
  }

  async read(
    stream: string,
    from = 0n,
  ): Promise<{ events: readonly RecordedEvent[]; revision: StreamRevision }> {
    const { events, revision } = await this.#read(
      (reader) => reader.stream(stream, Number(from)),
      `in stream ${stream}`,
      'read',
    );
    return { events, revision: toRevision(revision) };
  }

  async head(stream: string): Promise<StreamRevision> {
    return toRevision(await this.#read((reader) => reader.head(stream), `in stream ${stream}`, 'head'));
  }

  async end(): Promise<LogPosition | 'start'> {
    const end = await this.#read((reader) => reader.end());
    return end === 0 ? 'start' : toPosition(end);
  }

  byId(id: string): Promise<RecordedEvent | undefined> {
    return this.#read((reader) => reader.byId(id));
  }

  at(stream: string, revision: bigint): Promise<RecordedEvent | undefined> {
    return this.#read((reader) => reader.at(stream, Number(revision)), `in stream ${stream}`, 'read');
  }

  append(
    stream: string,
    expected: StreamRevision,
    events: readonly EventToAppend[],
    claim?: KeyClaim,
  ): Promise<AppendResult> {
    const { watch } = this.#options;
    const append = (): Promise<AppendResult> => this.#append(stream, expected, events, claim);
    return watch ? watch.append(stream, events, append) : append();
  }

  async #append(
    stream: string,
    expected: StreamRevision,
    events: readonly EventToAppend[],
    claim: KeyClaim | undefined,
  ): Promise<AppendResult> {
    // What is called before a close is carried out: without a question it reaches the writer in the same turn.
    if (this.#options.mayAppend) await this.#options.mayAppend();
    if (events.length === 0) throw new RangeError(`an append to ${stream} holds no event`);
    let characters = 0;
    for (const { data } of events) characters += data.length;
    const reply = await this.#writer.call(encodeAppend(stream, expected, events, claim), characters);
    const result = resultOfAppend(reply, stream, expected);
    this.advanceTo(Number(result.position));
    return result;
  }

  /** Carries out an append that another thread has encoded; what becomes of it is in the reply. */
  async carryOut(append: Row, characters: number): Promise<AppendReply> {
    try {
      const reply = await this.#writer.call(append, characters);
      if (reply[0] === 'stored') this.advanceTo(reply[2]);
      return reply;
    } catch (error) {
      return [error instanceof OutcomeUnknownError ? 'unknown' : 'unavailable', messageOf(error)];
    }
  }

  /** The log is known to reach this position: subscribers of this store are served up to there at once. */
  advanceTo(position: number): void {
    this.#shared.advanceTo(position);
    for (const listener of this.#listeners) listener(position);
  }

  /** Calls back with the position after each append that is made through this store. */
  onAppended(listener: (position: number) => void): void {
    this.#listeners.push(listener);
  }

  async findClaim(claim: KeyClaim): Promise<string | undefined> {
    return this.#read((reader) => reader.claimHolder(claim), undefined, 'find_claim');
  }

  async ensureHas(position: LogPosition): Promise<void> {
    ensureReaches(position, await this.#read((reader) => reader.end()));
  }

  async *subscribe(options: SubscribeOptions): AsyncGenerator<SubscriptionMessage, void, undefined> {
    const signal = AbortSignal.any([options.signal, this.#closing.signal]);
    yield* followFile(this.#source, options, signal);
  }

  /** Ends the subscriptions, finishes the appends that wait, and leaves one tidy file behind. */
  async close(): Promise<void> {
    this.#closing.abort();
    // The writer last: the last connection to leave moves the write-ahead log into the file.
    this.#connection.close();
    await this.#writer.close(this.#options.closeGraceMs ?? 5_000);
  }

  /** @param where is told of a damaged file @param call as the watch knows it @throws StoreUnavailableError @throws DamagedStoreError */
  async #read<Answer>(
    ask: (reader: EventLogReader) => Answer,
    where?: string,
    call?: Parameters<EventStoreWatch['readFailed']>[0],
  ): Promise<Answer> {
    try {
      await this.#turn.pass();
      if (!this.#connection.isOpen) throw new StoreUnavailableError('the event store is closed');
      return ask(this.#reader);
    } catch (error) {
      if (call) this.#options.watch?.readFailed(call);
      if (error instanceof StoreUnavailableError) throw error;
      if (isDamaged(error)) throw this.#damaged(error, where);
      throw new StoreUnavailableError(messageOf(error), { cause: error });
    }
  }

  #damaged(error: unknown, where: string | undefined): DamagedStoreError {
    const { message } = unusable(this.#connection.settings.path, error);
    return new DamagedStoreError(where === undefined ? message : `${message}, ${where}`, { cause: error });
  }
}
