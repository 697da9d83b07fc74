import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { StatementSync } from 'node:sqlite';
import type {
  EventMetadata,
  JsonText,
  KeyClaim,
  LogPosition,
  RecordedEvent,
} from '../../application/ports/event-store.ts';
import { MoveFailedError } from '../../application/ports/moving.ts';
import type { EventToMove, HeldClaim, LogToMove } from '../../application/ports/moving.ts';
import { EVENT_LOG_FILE, EVENT_LOG_VERSION } from '../sqlite/event-log/event-log-threads.ts';
import { toPosition } from '../sqlite/event-log/event-log-reader.ts';

export interface LogToMoveOptions {
  /** Under which names, beside its own, an application's request may have claimed a key. */
  readonly claimScopes: readonly string[];
}

interface Row {
  readonly id: string;
  readonly type: string;
  readonly data: string;
  readonly metadata: string;
  readonly stream_id: number;
  readonly stream: string;
  readonly revision: number;
  readonly position: number;
}

interface ClaimRow {
  readonly application_id: string;
  readonly endpoint: string;
  readonly key: string;
  readonly stream: string;
}

const CLAIMS_PAGE = 1_000;

const COLUMNS = 'e.id, e.type, e.data, e.metadata, e.stream_id, s.name AS stream, e.revision, e.position';

const prepareAll = (db: DatabaseSync) => ({
  counts: db.prepare(
    `SELECT (SELECT count(*) FROM events) AS events, (SELECT count(DISTINCT stream_id) FROM events) AS streams,
       (SELECT count(*) FROM claims) AS claims`,
  ),
  countThrough: db.prepare('SELECT count(*) AS events FROM events WHERE position <= ?'),
  page: db.prepare(
    `SELECT ${COLUMNS} FROM events e CROSS JOIN streams s ON s.id = e.stream_id
     WHERE e.position > ? ORDER BY e.position LIMIT ?`,
  ),
  byId: db.prepare(`SELECT ${COLUMNS} FROM events e JOIN streams s ON s.id = e.stream_id WHERE e.id = ?`),
  before: db.prepare('SELECT metadata FROM events WHERE stream_id = ? AND revision = ?'),
  lastAt: db.prepare('SELECT max(position) AS at FROM events WHERE position <= ?'),
  claim: db.prepare(
    'SELECT 1 FROM claims WHERE application_id = ? AND endpoint = ? AND key = ? AND stream_id = ?',
  ),
  claims: db.prepare(
    `SELECT c.application_id, c.endpoint, c.key, s.name AS stream FROM claims c JOIN streams s ON s.id = c.stream_id
     WHERE (c.application_id, c.endpoint, c.key) > (?, ?, ?) ORDER BY c.application_id, c.endpoint, c.key
     LIMIT ${CLAIMS_PAGE}`,
  ),
});

const toEvent = (row: Row, metadata: EventMetadata): RecordedEvent => ({
  id: row.id,
  type: row.type,
  data: row.data as JsonText,
  metadata,
  stream: row.stream,
  revision: BigInt(row.revision),
  position: toPosition(row.position),
});

/** The event log of an embedded service that is moved, opened for reading only. Synchronous: nothing else goes on meanwhile. */
export class SqliteLogToMove implements LogToMove {
  readonly #db: DatabaseSync;
  readonly #sql: Readonly<Record<keyof ReturnType<typeof prepareAll>, StatementSync>>;
  readonly #scopes: readonly string[];
  #counts: ReturnType<LogToMove['counts']> | undefined;

  private constructor(db: DatabaseSync, { claimScopes }: LogToMoveOptions) {
    this.#db = db;
    this.#sql = prepareAll(db);
    this.#scopes = claimScopes;
  }

  /** @throws MoveFailedError there is no log, or another version of the program wrote it */
  static open(dataDir: string, options: LogToMoveOptions): SqliteLogToMove {
    const path = join(dataDir, EVENT_LOG_FILE);
    const db = openReadOnly(path);
    try {
      const version = Number(db.prepare('PRAGMA user_version').get()?.['user_version']);
      if (version === EVENT_LOG_VERSION) return new SqliteLogToMove(db, options);
    } catch (error) {
      db.close();
      throw error;
    }
    db.close();
    throw new MoveFailedError(
      `${path} was written by another version: run this one on it once, \`receivables client list\` will do`,
    );
  }

  counts(): ReturnType<LogToMove['counts']> {
    const row = (this.#counts ??= this.#sql.counts.get() as unknown as ReturnType<LogToMove['counts']>);
    return { events: row.events, streams: row.streams, claims: row.claims };
  }

  countThrough(at: number): number {
    return Number(this.#sql.countThrough.get(at)?.['events']);
  }

  page(after: number, limit: number): readonly EventToMove[] {
    return (this.#sql.page.all(after, limit) as unknown as readonly Row[]).map((row) => this.#toMove(row));
  }

  find(eventId: string): EventToMove | undefined {
    const row = this.#sql.byId.get(eventId) as unknown as Row | undefined;
    return row && this.#toMove(row);
  }

  lastAt(position: LogPosition): number {
    if (!/^\d{1,15}$/.test(position))
      throw new MoveFailedError(`${position} is not a place in this event log`);
    return Number(this.#sql.lastAt.get(Number(position))?.['at'] ?? 0);
  }

  *claims(): Generator<readonly HeldClaim[]> {
    let last: readonly [string, string, string] = ['', '', ''];
    for (;;) {
      const rows = this.#sql.claims.all(...last) as unknown as readonly ClaimRow[];
      const end = rows.at(-1);
      if (!end) return;
      yield rows.map(({ application_id: applicationId, endpoint, key, stream }) => ({
        claim: { applicationId, endpoint, key },
        stream,
      }));
      last = [end.application_id, end.endpoint, end.key];
    }
  }

  close(): void {
    this.#db.close();
  }

  #toMove(row: Row): EventToMove {
    const metadata = JSON.parse(row.metadata) as EventMetadata;
    return {
      event: toEvent(row, metadata),
      at: row.position,
      previousHash: this.#hashBefore(row),
      claim: this.#claimOf(row, metadata),
    };
  }

  #hashBefore({ stream_id, revision }: Row): string | undefined {
    if (revision === 0) return undefined;
    const before = this.#sql.before.get(stream_id, revision - 1)?.['metadata'];
    return typeof before === 'string' ? (JSON.parse(before) as EventMetadata).hash : undefined;
  }

  /** The metadata says which key a request had, not whether that was unique beyond the operation. */
  #claimOf({ stream_id }: Row, { applicationId: own, idempotency }: EventMetadata): KeyClaim | undefined {
    if (!idempotency) return undefined;
    const { endpoint, key } = idempotency;
    const applicationId = [own, ...this.#scopes].find((scope) =>
      this.#sql.claim.get(scope, endpoint, key, stream_id),
    );
    return applicationId === undefined ? undefined : { applicationId, endpoint, key };
  }
}

const openReadOnly = (path: string): DatabaseSync => {
  try {
    return new DatabaseSync(path, { readOnly: true });
  } catch (error) {
    throw new MoveFailedError(`${path} cannot be read: ${(error as Error).message}`, { cause: error });
  }
};
