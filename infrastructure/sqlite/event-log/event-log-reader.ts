import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { metadataOf } from '../../../application/event-codec/event-codec.ts';
import type {
  JsonText,
  KeyClaim,
  LogPosition,
  RecordedEvent,
} from '../../../application/ports/event-store.ts';
import { LogTail } from '../../support/log-tail.ts';
import { isDamaged } from '../connection.ts';

/** What another process appends, or a thread that could not tell, is noticed within this time. */
const LOOK_INTERVAL_MS = 250;
/** Beyond this, followers read the file each at its own pace until they have caught up. */
const FARTHEST_BEHIND = 4_000;
const PAGE_EVENTS = 1_000;

interface TailSource {
  /** Position of the log's last event. @throws when the file cannot be read now */
  end(): number;
  page(after: number, limit: number, prefix: string): LogPage;
}

/** Reads the end of the log for all that follow it here: when it is told that there is more, and every now and then by itself. */
export class SharedReading {
  /** The number of an event is its position. */
  readonly tail = new LogTail<RecordedEvent>(this, ({ data }) => data.length);
  readonly #source: TailSource;
  #timer: NodeJS.Timeout | undefined;
  #end = 0;
  #scheduled = false;

  constructor(source: TailSource) {
    this.#source = source;
  }

  begin(): void {
    this.#timer = setInterval(() => this.#look(), LOOK_INTERVAL_MS);
  }

  rest(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.tail.restart(this.tail.high);
  }

  /** The log is known to reach this position. */
  advanceTo(end: number): void {
    this.#end = Math.max(this.#end, end);
    if (this.#timer === undefined || this.#scheduled || this.#end <= this.tail.high) return;
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
    const { high } = this.tail;
    if (this.#end - high > FARTHEST_BEHIND) return this.tail.restart(this.#end);
    try {
      const { events, end } = this.#source.page(high, PAGE_EVENTS, '');
      if (events.length === 0) return;
      this.tail.push(events);
      this.advanceTo(end);
    } catch {
      // A file that cannot be read: each follower finds out by its own reading.
      this.tail.restart(this.#end);
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

export const STREAM = `SELECT id, (SELECT max(revision) FROM events WHERE stream_id = streams.id) AS revision
  FROM streams WHERE name = ?`;
export const CLAIM_HOLDER = `SELECT name FROM claims JOIN streams ON streams.id = claims.stream_id
  WHERE application_id = ? AND endpoint = ? AND key = ?`;

const prepareAll = (db: DatabaseSync) => ({
  stream: db.prepare(STREAM),
  events: db.prepare(
    `SELECT ${COLUMNS} FROM events e CROSS JOIN streams s ON s.id = e.stream_id
     WHERE e.stream_id = ? AND e.revision >= ? AND e.revision <= ? ORDER BY e.revision`,
  ),
  byId: db.prepare(`SELECT ${COLUMNS} FROM events e JOIN streams s ON s.id = e.stream_id WHERE e.id = ?`),
  at: db.prepare(
    `SELECT ${COLUMNS} FROM streams s JOIN events e ON e.stream_id = s.id WHERE s.name = ? AND e.revision = ?`,
  ),
  claimHolder: db.prepare(CLAIM_HOLDER),
  end: db.prepare('SELECT max(position) FROM events'),
  // CROSS JOIN keeps the log the outer loop: the planner must not walk the streams first.
  page: db.prepare(
    `SELECT ${COLUMNS} FROM events e CROSS JOIN streams s ON s.id = e.stream_id
     WHERE e.position > ?1 AND e.position <= ?2 AND substr(s.name, 1, length(?3)) = ?3 ORDER BY e.position`,
  ),
});

type Statements = Readonly<Record<keyof ReturnType<typeof prepareAll>, StatementSync>>;

const eventOf = (row: EventRow): RecordedEvent => ({
  id: row[0],
  type: row[1],
  data: row[2] as JsonText,
  metadata: metadataOf(row[3]),
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

  stream(
    name: string,
    from: number,
  ): { readonly events: readonly RecordedEvent[]; readonly revision: number } {
    const { id, revision } = this.#streamOf(name);
    if (revision < from) return { events: [], revision };
    const rows = this.#sql.events.all(id, from, revision) as unknown as readonly EventRow[];
    return { events: rows.map(eventOf), revision };
  }

  byId(id: string): RecordedEvent | undefined {
    const row = this.#sql.byId.get(id) as unknown as EventRow | undefined;
    return row && eventOf(row);
  }

  at(stream: string, revision: number): RecordedEvent | undefined {
    const row = this.#sql.at.get(stream, revision) as unknown as EventRow | undefined;
    return row && eventOf(row);
  }

  claimHolder({ applicationId, endpoint, key }: KeyClaim): string | undefined {
    const [name] = this.#first(this.#sql.claimHolder, applicationId, endpoint, key);
    return typeof name === 'string' ? name : undefined;
  }

  end(): number {
    return Number(this.#first(this.#sql.end)[0] ?? 0);
  }

  page(after: number, limit: number, prefix: string): LogPage {
    // Asked before the events: whatever is committed in between belongs to a later page.
    const end = this.end();
    const upper = Math.min(end, after + (prefix === '' ? limit : Math.max(limit, FILTERED_WINDOW)));
    const events: RecordedEvent[] = [];
    let characters = 0;
    try {
      for (const row of this.#sql.page.iterate(after, upper, prefix) as unknown as Iterable<EventRow>) {
        events.push(eventOf(row));
        characters += row[2].length + row[3].length;
        if (events.length < limit && characters < PAGE_CHARACTERS) continue;
        return { events, scanned: row[6], end };
      }
    } catch (error) {
      // What stands before the damage is handed out first: the next page then begins right at it.
      const last = events.at(-1);
      if (!last || !isDamaged(error)) throw error;
      return { events, scanned: Number(last.position), end };
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
