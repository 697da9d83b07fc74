import type { DatabaseSync, StatementSync } from 'node:sqlite';
import {
  ConcurrencyError,
  KeyAlreadyClaimedError,
  OutcomeUnknownError,
  StoreUnavailableError,
} from '../../../application/ports/event-store.ts';
import type {
  AppendResult,
  EventToAppend,
  KeyClaim,
  StreamRevision,
} from '../../../application/ports/event-store.ts';
import { messageOf } from '../../../application/support/failures.ts';
import type { Connection } from '../connection.ts';
import { CLAIM_HOLDER, STREAM, toPosition } from './event-log-reader.ts';
import {
  SQLITE_CONSTRAINT,
  SQLITE_TOOBIG,
  isCertainlyNotStored,
  sqliteCode,
  unusable,
} from '../connection.ts';

/** How appends and their answers cross the thread boundary: flat lists of primitives are cheap to clone, nested objects are not. */
type Value = string | number | null;
export type Row = readonly Value[];

/** An append as the writer thread sees it; revision -1 stands for a stream that does not exist. */
interface AppendRequest {
  readonly stream: string;
  readonly expected: number;
  readonly claim: readonly [applicationId: string, endpoint: string, key: string] | undefined;
  readonly events: readonly Readonly<Record<'id' | 'type' | 'data' | 'metadata', string>>[];
}

export type AppendReply =
  | readonly ['stored' | 'repeated', revision: number, position: number]
  | readonly ['conflict', actual: number]
  | readonly ['claimed' | 'refused' | 'unavailable' | 'unknown', by: string];

const HEADER = 5;
const VALUES_PER_EVENT = 4;

export const toRevision = (revision: number): StreamRevision =>
  revision < 0 ? 'no_stream' : BigInt(revision);

export const encodeAppend = (
  stream: string,
  expected: StreamRevision,
  events: readonly EventToAppend[],
  claim: KeyClaim | undefined,
): Row => {
  const row: (string | number | null)[] = [
    stream,
    expected === 'no_stream' ? -1 : Number(expected),
    claim?.applicationId ?? null,
    claim?.endpoint ?? null,
    claim?.key ?? null,
  ];
  for (const event of events) row.push(event.id, event.type, event.data, JSON.stringify(event.metadata));
  return row;
};

const decodeAppend = (row: Row): AppendRequest => {
  const [texts, events] = [row as readonly string[], [] as AppendRequest['events'][number][]];
  for (let at = HEADER; at < row.length; at += VALUES_PER_EVENT)
    events.push({ id: texts[at]!, type: texts[at + 1]!, data: texts[at + 2]!, metadata: texts[at + 3]! });
  const claim = row[2] === null ? undefined : ([texts[2]!, texts[3]!, texts[4]!] as const);
  return { stream: texts[0]!, expected: row[1] as number, claim, events };
};

/** @throws the port's error that the reply stands for */
export const resultOfAppend = (
  reply: AppendReply,
  stream: string,
  expected: StreamRevision,
): AppendResult => {
  switch (reply[0]) {
    case 'stored':
    case 'repeated':
      return { revision: BigInt(reply[1]), position: toPosition(reply[2]) };
    case 'conflict':
      throw new ConcurrencyError(stream, expected, toRevision(reply[1]));
    case 'claimed':
      throw new KeyAlreadyClaimedError(reply[1]);
    case 'refused':
      throw new Error(reply[1]);
    case 'unknown':
      throw new OutcomeUnknownError(reply[1]);
    case 'unavailable':
      throw new StoreUnavailableError(reply[1]);
  }
};

/** Errors that only one append has caused; the others of its transaction go on. */
const isOwnFault = (error: unknown): boolean => {
  const code = sqliteCode(error);
  return code === SQLITE_CONSTRAINT || code === SQLITE_TOOBIG;
};

const prepareAll = (db: DatabaseSync) => ({
  begin: db.prepare('BEGIN IMMEDIATE'),
  commit: db.prepare('COMMIT'),
  savepoint: db.prepare('SAVEPOINT append'),
  release: db.prepare('RELEASE append'),
  lastPosition: db.prepare('SELECT max(position) AS position FROM events'),
  stream: db.prepare(STREAM),
  following: db.prepare(
    'SELECT id, position FROM events WHERE stream_id = ? AND revision > ? ORDER BY revision LIMIT ?',
  ),
  claimHolder: db.prepare(CLAIM_HOLDER),
  eventHolder: db.prepare(
    'SELECT name FROM events JOIN streams ON streams.id = events.stream_id WHERE events.id = ?',
  ),
  insertStream: db.prepare('INSERT INTO streams (name) VALUES (?)'),
  insertEvent: db.prepare(
    'INSERT INTO events (position, stream_id, revision, id, type, data, metadata) VALUES (?, ?, ?, ?, ?, ?, ?)',
  ),
  insertClaim: db.prepare(
    'INSERT INTO claims (application_id, endpoint, key, stream_id) VALUES (?, ?, ?, ?)',
  ),
});

/** Rolls the batch back: one of its appends is refused by the tables and has to be judged apart. */
class Entangled extends Error {}

/** Group commit: the appends of a batch are judged one after the other and become durable with one flush. */
export class EventLogWriter {
  readonly #connection: Connection;
  readonly #db: DatabaseSync;
  readonly #sql: Readonly<Record<keyof ReturnType<typeof prepareAll>, StatementSync>>;
  #lastPosition = 0;

  constructor(connection: Connection) {
    this.#connection = connection;
    this.#db = connection.database;
    this.#sql = prepareAll(this.#db);
  }

  /** @throws when it is unknown whether the transaction was stored; the thread must then start afresh */
  carryOut(batch: readonly Row[]): readonly AppendReply[] {
    const appends = batch.map(decodeAppend);
    // Savepoints copy every page before its first change: worth it only once an append turned out to need one.
    return this.#commit(appends, false) ?? this.#commit(appends, true)!;
  }

  close(): void {
    this.#connection.checkpoint();
    this.#connection.close();
  }

  /** Undefined when the batch needs savepoints. */
  #commit(appends: readonly AppendRequest[], apart: boolean): readonly AppendReply[] | undefined {
    let committing = false;
    try {
      this.#sql.begin.run();
      // Another process may have appended since the last batch: nothing remembered from it counts.
      this.#lastPosition = Number(this.#sql.lastPosition.get()?.['position']);
      const replies = appends.map((append) => this.#judge(append, apart));
      committing = true;
      this.#sql.commit.run();
      return replies;
    } catch (error) {
      const trouble = unusable(this.#connection.settings.path, error);
      if (committing && !isCertainlyNotStored(error)) throw trouble;
      // SQLite has rolled back by itself when the disk was full.
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
      if (error instanceof Entangled) return undefined;
      return appends.map(() => ['unavailable', trouble.message]);
    }
  }

  #judge(append: AppendRequest, apart: boolean): AppendReply {
    const found = this.#sql.stream.get(append.stream);
    const actual = found === undefined ? -1 : Number(found['revision']);
    const streamId = found === undefined ? undefined : Number(found['id']);
    if (actual !== append.expected)
      return this.#earlierResult(append, streamId) ?? (['conflict', actual] as const);
    const holder = append.claim && this.#sql.claimHolder.get(...append.claim);
    if (holder) return ['claimed', String(holder['name'])];
    return apart ? this.#storeOrRefuse(append, streamId) : this.#storePlainly(append, streamId);
  }

  /** The first result of the same append, when its events stand right after the expected revision. */
  #earlierResult(append: AppendRequest, streamId: number | undefined): AppendReply | undefined {
    if (streamId === undefined) return undefined;
    const rows = this.#sql.following.all(streamId, append.expected, append.events.length);
    const last = rows.at(-1);
    const same =
      rows.length === append.events.length && append.events.every((event, i) => rows[i]?.['id'] === event.id);
    return last && same ? ['repeated', append.expected + rows.length, Number(last['position'])] : undefined;
  }

  #storePlainly(append: AppendRequest, streamId: number | undefined): AppendReply {
    try {
      return this.#store(append, streamId);
    } catch (error) {
      throw isOwnFault(error) ? new Entangled() : error;
    }
  }

  #storeOrRefuse(append: AppendRequest, streamId: number | undefined): AppendReply {
    this.#sql.savepoint.run();
    try {
      const reply = this.#store(append, streamId);
      this.#sql.release.run();
      return reply;
    } catch (error) {
      if (!isOwnFault(error) || !this.#db.isTransaction) throw error;
      this.#db.exec('ROLLBACK TO append; RELEASE append');
      return ['refused', this.#whyRefused(append, error)];
    }
  }

  #store(append: AppendRequest, existing: number | undefined): AppendReply {
    const streamId = existing ?? Number(this.#sql.insertStream.run(append.stream).lastInsertRowid);
    let position = this.#lastPosition;
    let revision = append.expected;
    for (const { id, type, data, metadata } of append.events)
      this.#sql.insertEvent.run(++position, streamId, ++revision, id, type, data, metadata);
    if (append.claim) this.#sql.insertClaim.run(...append.claim, streamId);
    this.#lastPosition = position;
    return ['stored', revision, position];
  }

  #whyRefused(append: AppendRequest, error: unknown): string {
    for (const { id } of append.events) {
      const holder = this.#sql.eventHolder.get(id);
      if (holder) return `event id ${id} is already stored in stream ${String(holder['name'])}`;
    }
    const ids = new Set(append.events.map(({ id }) => id));
    if (ids.size < append.events.length) return `an append to ${append.stream} holds an event id twice`;
    return `append to ${append.stream} refused: ${messageOf(error)}`;
  }
}
