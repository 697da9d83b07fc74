import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { StatementSync } from 'node:sqlite';
import { ALL_APPLICATIONS } from '../../application/command-handling/endpoints.ts';
import type { KeyClaim, LogPosition, RecordedEvent } from '../../application/ports/event-store.ts';
import { MoveFailedError } from '../../application/maintenance/moving/what-moves.ts';
import type {
  EventToMove,
  LogToMove,
  PlacesToMove,
  SubscriptionPlace,
  MovedRows,
  MovedTable,
  Row,
  Value,
} from '../../application/maintenance/moving/what-moves.ts';
import { EVENT_LOG_FILE, EVENT_LOG_VERSION } from '../sqlite/event-log/event-log-threads.ts';
import { EventLogReader } from '../sqlite/event-log/event-log-reader.ts';
import { serviceMigrations } from '../../application/sql/migrations/service.ts';

interface ClaimRow {
  readonly application_id: string;
  readonly endpoint: string;
  readonly key: string;
  readonly stream: string;
}

const CLAIMS_PAGE = 1_000;

const prepareAll = (db: DatabaseSync) => ({
  counts: db.prepare(
    `SELECT (SELECT count(*) FROM events) AS events, (SELECT count(DISTINCT stream_id) FROM events) AS streams,
       (SELECT count(*) FROM claims) AS claims`,
  ),
  lastAt: db.prepare('SELECT max(position) AS at FROM events WHERE position <= ?'),
  claim: db.prepare(
    `SELECT 1 FROM claims c JOIN streams s ON s.id = c.stream_id
     WHERE c.application_id = ? AND c.endpoint = ? AND c.key = ? AND s.name = ?`,
  ),
  claims: db.prepare(
    `SELECT c.application_id, c.endpoint, c.key, s.name AS stream FROM claims c JOIN streams s ON s.id = c.stream_id
     WHERE (c.application_id, c.endpoint, c.key) > (?, ?, ?) ORDER BY c.application_id, c.endpoint, c.key
     LIMIT ${CLAIMS_PAGE}`,
  ),
});

/** The event log of an embedded service that is moved, opened for reading only. Synchronous: nothing else goes on meanwhile. */
export class SqliteLogToMove implements LogToMove {
  readonly #db: DatabaseSync;
  readonly #reader: EventLogReader;
  readonly #sql: Readonly<Record<keyof ReturnType<typeof prepareAll>, StatementSync>>;
  #counts: ReturnType<LogToMove['counts']> | undefined;

  private constructor(db: DatabaseSync) {
    this.#db = db;
    this.#reader = new EventLogReader(db);
    this.#sql = prepareAll(db);
  }

  /** @throws MoveFailedError there is no log, or another version of the program wrote it */
  static open(dataDir: string): SqliteLogToMove {
    const path = join(dataDir, EVENT_LOG_FILE);
    const db = openReadOnly(path);
    try {
      const version = Number(db.prepare('PRAGMA user_version').get()?.['user_version']);
      if (version !== EVENT_LOG_VERSION)
        throw new MoveFailedError(
          `${path} was written by another version: run this one on it once, \`receivables client list\` will do`,
        );
      return new SqliteLogToMove(db);
    } catch (error) {
      db.close();
      throw error;
    }
  }

  counts(): ReturnType<LogToMove['counts']> {
    const row = (this.#counts ??= this.#sql.counts.get() as unknown as ReturnType<LogToMove['counts']>);
    return { events: row.events, streams: row.streams, claims: row.claims };
  }

  page(after: number, limit: number): readonly EventToMove[] {
    for (let from = after; ;) {
      const { events, scanned, end } = this.#reader.page(from, limit, '');
      if (events.length > 0 || scanned >= end) return events.map((event) => this.#toMove(event));
      from = scanned;
    }
  }

  find(eventId: string): EventToMove | undefined {
    const event = this.#reader.byId(eventId);
    return event && this.#toMove(event);
  }

  lastAt(position: LogPosition): number {
    if (!/^\d{1,15}$/.test(position))
      throw new MoveFailedError(`${position} is not a place in this event log`);
    return Number(this.#sql.lastAt.get(Number(position))?.['at'] ?? 0);
  }

  *claims(): ReturnType<LogToMove['claims']> {
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

  #toMove(event: RecordedEvent): EventToMove {
    const before = this.#reader.at(event.stream, Number(event.revision) - 1);
    return {
      event,
      at: Number(event.position),
      previousHash: before?.metadata.hash,
      claim: this.#claimOf(event),
    };
  }

  /** The metadata says which key a request had, not whether that was unique beyond the operation. */
  #claimOf({ stream, metadata }: RecordedEvent): KeyClaim | undefined {
    const { applicationId: own, idempotency } = metadata;
    if (!idempotency) return undefined;
    const { endpoint, key } = idempotency;
    const applicationId = [own, ALL_APPLICATIONS].find((scope) =>
      this.#sql.claim.get(scope, endpoint, key, stream),
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

/** The service database that is left behind, opened for reading only. */
export class SourceFile implements MovedRows {
  readonly #db: DatabaseSync;

  private constructor(db: DatabaseSync) {
    this.#db = db;
  }

  /** @throws MoveFailedError it is not there, or another version of the program wrote it */
  static open(path: string): SourceFile {
    let db: DatabaseSync | undefined;
    try {
      db = new DatabaseSync(path, { readOnly: true });
      const applied = new Set(
        db
          .prepare('select id from schema_migration')
          .all()
          .map(({ id }) => id),
      );
      if (applied.size !== serviceMigrations.length || !serviceMigrations.every(({ id }) => applied.has(id)))
        throw new Error(
          'another version wrote it: run this one on it once, `receivables client list` will do',
        );
      return new SourceFile(db);
    } catch (error) {
      db?.close();
      throw new MoveFailedError(`${path} cannot be moved: ${(error as Error).message}`, { cause: error });
    }
  }

  count({ name }: MovedTable): number {
    return Number(this.#db.prepare(`select count(*) as n from ${name}`).get()?.['n']);
  }

  /** In the order of the key. */
  page({ name, key }: MovedTable, after: readonly Value[] | undefined, limit: number): readonly Row[] {
    const columns = key.join(', ');
    const where = after === undefined ? '' : `where (${columns}) > (${key.map(() => '?').join(', ')})`;
    const text = `select * from ${name} ${where} order by ${columns} limit ${limit}`;
    return this.#db.prepare(text).all(...(after ?? [])) as unknown as readonly Row[];
  }

  places(): PlacesToMove {
    const checkpoints: unknown = this.#db
      .prepare('select name, position from checkpoint order by name')
      .all()
      .map((row) => ({ ...row }));
    const of = (column: SubscriptionPlace['column']) =>
      `select webhook_id as "webhookId", '${column}' as "column", ${column} as place from webhook_subscription where ${column} is not null`;
    const subscriptions: unknown = this.#db
      .prepare(`${of('begins_at')} union all ${of('filter_from')} order by 1, 2`)
      .all();
    return { checkpoints, subscriptions } as PlacesToMove;
  }

  close(): void {
    this.#db.close();
  }
}
