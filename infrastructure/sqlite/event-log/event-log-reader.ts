import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { DamagedEventError } from '../../../application/ports/event-store.ts';
import type {
  EventMetadata,
  JsonText,
  KeyClaim,
  LogPosition,
  RecordedEvent,
} from '../../../application/ports/event-store.ts';

const MAX_EVENTS = 8_192;
const MAX_CHARACTERS = 32_000_000;

/**
 * The end of the log as this process appended it, without a hole: the events at positions `low + 1` to `high`. Subscribers that
 * keep up are served from here; those that have fallen behind it read the database.
 */
export class RecentEvents {
  #events: RecordedEvent[] = [];
  #characters = 0;
  #low: number;
  readonly #waiters = new Set<() => void>();

  constructor(end: number) {
    this.#low = end;
  }

  get high(): number {
    return this.#low + this.#events.length;
  }

  /** At most `limit` events after the position; undefined when the database has to be asked for them. */
  after(position: number, limit: number): readonly RecordedEvent[] | undefined {
    if (position < this.#low) return undefined;
    return this.#events.slice(position - this.#low, position - this.#low + limit);
  }

  /** Takes in an append of this process. A gap before it was filled by another process: the buffer starts anew behind the gap. */
  push(first: number, events: readonly RecordedEvent[]): void {
    if (first <= this.high) return;
    if (first > this.high + 1) this.#restart(first - 1);
    for (const event of events) {
      this.#events.push(event);
      this.#characters += event.data.length;
    }
    if (this.#events.length > MAX_EVENTS || this.#characters > MAX_CHARACTERS) this.#shrink();
    this.#wake();
  }

  /** The log is known to reach this position, with events that are not in here. */
  advanceTo(position: number): void {
    if (position <= this.high) return;
    this.#restart(position);
    this.#wake();
  }

  /** Frees the memory; to be called when the last subscriber has left. */
  forget(): void {
    this.#restart(this.high);
  }

  /** Calls back once at the next change; the answer cancels that. */
  onChange(callback: () => void): () => void {
    this.#waiters.add(callback);
    return () => void this.#waiters.delete(callback);
  }

  #restart(end: number): void {
    this.#events = [];
    this.#characters = 0;
    this.#low = end;
  }

  #shrink(): void {
    const dropped = this.#events.splice(0, Math.ceil(this.#events.length / 2));
    this.#low += dropped.length;
    for (const event of dropped) this.#characters -= event.data.length;
  }

  #wake(): void {
    const waiters = [...this.#waiters];
    this.#waiters.clear();
    for (const waiter of waiters) waiter();
  }
}

/** What another process appends, or a thread that could not tell, is noticed within this time. */
const LOOK_INTERVAL_MS = 250;
/** Beyond this, followers read the file each at its own pace until they have caught up. */
const FARTHEST_BEHIND = 4_000;
const PAGE_EVENTS = 1_000;

export interface TailSource {
  /** Position of the log's last event. @throws when the file cannot be read now */
  end(): number;
  page(after: number, limit: number, prefix: string): LogPage;
}

/** Reads the end of the log once, for all that follow it here: when it is told that there is more, and every now and then by itself. */
export class LogTail {
  readonly #recent: RecentEvents;
  readonly #source: TailSource;
  #timer: NodeJS.Timeout | undefined;
  #end = 0;
  #scheduled = false;

  constructor(recent: RecentEvents, source: TailSource) {
    this.#recent = recent;
    this.#source = source;
  }

  watch(): void {
    this.#timer ??= setInterval(() => this.#look(), LOOK_INTERVAL_MS);
  }

  rest(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#recent.forget();
  }

  /** The log is known to reach this position. */
  advanceTo(end: number): void {
    this.#end = Math.max(this.#end, end);
    if (this.#timer === undefined || this.#scheduled || this.#end <= this.#recent.high) return;
    this.#scheduled = true;
    // At the end of the turn: what the turn still brings is read with it.
    setImmediate(() => {
      this.#scheduled = false;
      if (this.#timer !== undefined) this.#read();
    });
  }

  #look(): void {
    try {
      this.advanceTo(this.#source.end());
    } catch {
      // There will be another look, or none is needed because the store is closing.
    }
  }

  #read(): void {
    const { high } = this.#recent;
    if (this.#end - high > FARTHEST_BEHIND) return this.#recent.advanceTo(this.#end);
    try {
      const { events, end } = this.#source.page(high, PAGE_EVENTS, '');
      this.#recent.push(high + 1, events);
      if (events.length > 0) this.advanceTo(end);
    } catch {
      // A damaged event, or a file that cannot be read: each follower finds out by its own reading.
      this.#recent.advanceTo(this.#end);
    }
  }
}

/** A stretch of the log: every event after the requested position up to and with `scanned` that passes the filter. */
export interface LogPage {
  readonly events: readonly RecordedEvent[];
  readonly scanned: number;
  /** Position of the log's last event when the page was read. */
  readonly end: number;
}

export const toPosition = (position: number): LogPosition => String(position) as LogPosition;

/** A page ends early beyond this many characters, so that large events do not add up to a huge one. */
const PAGE_CHARACTERS = 4_000_000;
/** How much of the log one filtered page may look through. */
const FILTERED_WINDOW = 4_000;

const COLUMNS = 'e.id, e.type, e.data, e.metadata, s.name, e.revision, e.position';

type EventRow = readonly [
  id: string,
  type: string,
  data: string,
  metadata: string,
  stream: string,
  revision: number,
  position: number,
];

const prepareAll = (db: DatabaseSync) => ({
  stream: db.prepare(
    `SELECT id, (SELECT max(revision) FROM events WHERE stream_id = streams.id) FROM streams WHERE name = ?`,
  ),
  events: db.prepare(
    `SELECT ${COLUMNS} FROM events e CROSS JOIN streams s ON s.id = e.stream_id
     WHERE e.stream_id = ? AND e.revision >= ? AND e.revision <= ? ORDER BY e.revision`,
  ),
  byId: db.prepare(`SELECT ${COLUMNS} FROM events e JOIN streams s ON s.id = e.stream_id WHERE e.id = ?`),
  claimHolder: db.prepare(
    `SELECT name FROM claims JOIN streams ON streams.id = claims.stream_id
     WHERE application_id = ? AND endpoint = ? AND key = ?`,
  ),
  end: db.prepare('SELECT max(position) FROM events'),
  // CROSS JOIN keeps the log the outer loop: the planner must not walk the streams first.
  page: db.prepare(
    `SELECT ${COLUMNS} FROM events e CROSS JOIN streams s ON s.id = e.stream_id
     WHERE e.position > ?1 AND e.position <= ?2 AND substr(s.name, 1, length(?3)) = ?3 ORDER BY e.position`,
  ),
});

type Statements = Readonly<Record<keyof ReturnType<typeof prepareAll>, StatementSync>>;

const metadataOf = (row: EventRow): EventMetadata => {
  try {
    const metadata: unknown = JSON.parse(row[3]);
    if (typeof metadata === 'object' && metadata !== null) return metadata as EventMetadata;
  } catch {
    // Falls through to the error, which names the event.
  }
  const place = { stream: row[4], revision: BigInt(row[5]), position: toPosition(row[6]) };
  throw new DamagedEventError(place, 'its metadata is not what was stored');
};

const eventOf = (row: EventRow): RecordedEvent => ({
  id: row[0],
  type: row[1],
  data: row[2] as JsonText,
  metadata: metadataOf(row),
  stream: row[4],
  revision: BigInt(row[5]),
  position: toPosition(row[6]),
});

/** Answers reads from committed data, on a connection that no flush holds up. */
export class EventLogReader {
  readonly #sql: Statements;

  constructor(db: DatabaseSync) {
    const statements = prepareAll(db);
    for (const statement of Object.values(statements)) statement.setReturnArrays(true);
    this.#sql = statements;
  }

  /** Revision of the stream's last event; -1 when there is no such stream. */
  head(stream: string): number {
    return this.#streamOf(stream).revision;
  }

  /** @throws DamagedEventError */
  stream(
    name: string,
    from: number,
  ): { readonly events: readonly RecordedEvent[]; readonly revision: number } {
    const { id, revision } = this.#streamOf(name);
    if (revision < from) return { events: [], revision };
    const rows = this.#sql.events.all(id, from, revision) as unknown as readonly EventRow[];
    return { events: rows.map(eventOf), revision };
  }

  /** @throws DamagedEventError */
  byId(id: string): RecordedEvent | undefined {
    const row = this.#sql.byId.get(id) as unknown as EventRow | undefined;
    return row && eventOf(row);
  }

  claimHolder({ applicationId, endpoint, key }: KeyClaim): string | undefined {
    const [name] = this.#first(this.#sql.claimHolder, applicationId, endpoint, key);
    return typeof name === 'string' ? name : undefined;
  }

  end(): number {
    return Number(this.#first(this.#sql.end)[0] ?? 0);
  }

  /** @throws DamagedEventError */
  page(after: number, limit: number, prefix: string): LogPage {
    // Asked before the events: whatever is committed in between belongs to a later page.
    const end = this.end();
    const upper = Math.min(end, after + (prefix === '' ? limit : Math.max(limit, FILTERED_WINDOW)));
    const events: RecordedEvent[] = [];
    let characters = 0;
    for (const row of this.#sql.page.iterate(after, upper, prefix) as unknown as Iterable<EventRow>) {
      events.push(eventOf(row));
      characters += row[2].length + row[3].length;
      if (events.length < limit && characters < PAGE_CHARACTERS) continue;
      return { events, scanned: row[6], end };
    }
    return { events, scanned: Math.max(after, upper), end };
  }

  #streamOf(name: string): { readonly id: number; readonly revision: number } {
    const [id, revision] = this.#first(this.#sql.stream, name);
    return { id: Number(id ?? -1), revision: Number(revision ?? -1) };
  }

  #first(statement: StatementSync, ...parameters: SQLInputValue[]): readonly unknown[] {
    return (statement.get(...parameters) as unknown as readonly unknown[] | undefined) ?? [];
  }
}
