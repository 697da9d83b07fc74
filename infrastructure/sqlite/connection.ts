import { DatabaseSync } from 'node:sqlite';
import type { StatementSync } from 'node:sqlite';
import { LRUCache } from 'lru-cache';
import { DamagedStoreError, StoreUnavailableError } from '../../application/ports/event-store.ts';
import { messageOf } from '../../application/support/failures.ts';
import { pause } from '../support/time.ts';

// Primary result codes of sqlite.org/rescode.html.
export const SQLITE_BUSY = 5;
const SQLITE_LOCKED = 6;
const SQLITE_CORRUPT = 11;
export const SQLITE_FULL = 13;
export const SQLITE_TOOBIG = 18;
export const SQLITE_CONSTRAINT = 19;
const SQLITE_NOTADB = 26;
/** PERM, BUSY, LOCKED, NOMEM, READONLY, INTERRUPT, IOERR, CORRUPT, FULL, CANTOPEN, PROTOCOL, NOLFS, NOTADB */
const UNAVAILABLE = new Set([
  ...[3, SQLITE_BUSY, SQLITE_LOCKED, 7, 8, 9, 10, SQLITE_CORRUPT, SQLITE_FULL, 14, 15, 22, SQLITE_NOTADB],
]);
const NOT_OURS = 'give it to the user of the service';
/** By primary result code, what an operator can do. */
const MENDING: Readonly<Record<number, string>> = {
  3: NOT_OURS,
  [SQLITE_BUSY]: 'another process has it locked: wait for that one, or end it',
  [SQLITE_LOCKED]: 'another process has it locked: wait for that one, or end it',
  8: NOT_OURS,
  10: 'look at the disk, and at the room on it',
  [SQLITE_FULL]: 'make room',
  14: 'look at its owner, its modes and the limit of open files',
};

/** SQLite's primary result code; undefined for any other error. */
export const sqliteCode = (error: unknown): number | undefined => {
  const code = (error as { errcode?: unknown } | null)?.errcode;
  return typeof code === 'number' ? code & 0xff : undefined;
};

const isBusy = (error: unknown): boolean => {
  const code = sqliteCode(error);
  return code === SQLITE_BUSY || code === SQLITE_LOCKED;
};

/** The file is locked, full, damaged or out of reach: the statement itself is not to blame. */
export const isUnavailable = (error: unknown): boolean => {
  const code = sqliteCode(error);
  return code !== undefined && UNAVAILABLE.has(code);
};

/**
 * After a failed flush the log file may hold the whole transaction, and recovery after a power cut would find it. Only these two
 * failures of COMMIT leave no doubt: the lock was never had, or the last page did not fit.
 */
export const isCertainlyNotStored = (error: unknown): boolean => {
  const code = sqliteCode(error);
  return code === SQLITE_BUSY || code === SQLITE_FULL;
};

/** What `node:sqlite` says of an integer beyond 2^53: sums may be that large, but nothing stores one. */
const TOO_LARGE = 'ERR_OUT_OF_RANGE';

/** The file is not what SQLite wrote there, or holds what this program never did. */
export const isDamaged = (error: unknown): boolean => {
  const code = sqliteCode(error);
  const { code: name } = error as NodeJS.ErrnoException;
  return code === SQLITE_CORRUPT || code === SQLITE_NOTADB || name === TOO_LARGE;
};

/** The error for a file that cannot be opened, or be used any more, with what can be done about it in one line. */
export const unusable = (path: string, error: unknown): StoreUnavailableError => {
  const reason = messageOf(error);
  const options = { cause: error };
  if (isDamaged(error)) return new DamagedStoreError(`${path} is damaged (${reason})`, options);
  const mending = MENDING[sqliteCode(error) ?? 0];
  const advice = mending === undefined ? '' : `; ${mending}`;
  return new StoreUnavailableError(`${path} cannot be used: ${reason}${advice}`, options);
};

export type Bindable = string | number | bigint | null | Uint8Array;

/** How a file is opened; plain data, so that it can be handed to a thread. */
export interface ConnectionSettings {
  readonly path: string;
  /** A reader cannot write, and never waits for a flush. */
  readonly role: 'writer' | 'reader';
  /** FULL survives a power cut; NORMAL may lose the last commits then, never more. */
  readonly synchronous: 'FULL' | 'NORMAL';
  /** How long a statement waits for a lock that another connection holds, in milliseconds. */
  readonly busyTimeoutMs: number;
  /** Overwrites what is deleted: a key that is gone must not lie in a free page. */
  readonly secureDelete?: boolean;
  /** Files that are read on the same connection, by the name of their schema. */
  readonly attached?: Readonly<Record<string, string>> | undefined;
  /** Of pages that stay in memory; default: those of `PAGE_CACHES`. */
  readonly pageCacheBytes?: number | undefined;
  /** Upper bound of the file in pages of 4 KiB; beyond it SQLite answers as on a full disk. */
  readonly maxPageCount?: number | undefined;
}

interface Prepared {
  readonly statement: StatementSync;
  columns: readonly string[];
}

interface Executed {
  readonly columns: readonly string[];
  /** Row after row, flat. */
  readonly values: readonly unknown[];
  readonly changes: number;
}

const CACHED_STATEMENTS = 500;
const KIB = 1_024;

/** Bytes of pages that a connection keeps. */
export interface PageCaches {
  readonly reader: number;
  readonly writer: number;
}

const PAGE_CACHES: PageCaches = { reader: 4_194_304, writer: 8_388_608 };

const WAL_LIMIT_BYTES = 67_108_864;
const WAL_PAGES_PER_CHECKPOINT = 4_000;
const RETRY_PAUSE_MS = 10;

const blockThread = (ms: number): void =>
  void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

/** Tries again while another connection is in the way, for operations that SQLite's own busy handler does not cover. */
export const whileBusy = <T>(operation: () => T, timeoutMs: number): T => {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    try {
      return operation();
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error;
      blockThread(RETRY_PAUSE_MS);
    }
  }
};

const namesOf = (statement: StatementSync): readonly string[] => statement.columns().map(({ name }) => name);

const useWriteAheadLog = (database: DatabaseSync): void => {
  const row = database.prepare('PRAGMA journal_mode = WAL').get();
  // Where shared memory is impossible (some network file systems), SQLite stays in the old mode without an error.
  if (row?.['journal_mode'] !== 'wal')
    throw new Error('the file system does not support write-ahead logging');
};

const open = (settings: ConnectionSettings): DatabaseSync => {
  const { path, role, synchronous, busyTimeoutMs, secureDelete = false, maxPageCount } = settings;
  const database = new DatabaseSync(path, { timeout: busyTimeoutMs, enableForeignKeyConstraints: true });
  try {
    const { pageCacheBytes = PAGE_CACHES[role] } = settings;
    database.exec(`PRAGMA cache_size = -${Math.floor(pageCacheBytes / KIB)}; PRAGMA temp_store = MEMORY`);
    for (const [schema, file] of Object.entries(settings.attached ?? {}))
      database.prepare(`ATTACH ? AS "${schema}"`).run(file);
    if (role === 'reader') {
      database.exec('PRAGMA query_only = ON');
      return database;
    }
    // Turning a new file into a WAL file needs it alone, and SQLite does not wait for that by itself.
    whileBusy(() => useWriteAheadLog(database), busyTimeoutMs);
    database.exec(`PRAGMA synchronous = ${synchronous}; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON;
      PRAGMA secure_delete = ${secureDelete ? 'ON' : 'OFF'}; PRAGMA journal_size_limit = ${WAL_LIMIT_BYTES};
      PRAGMA wal_autocheckpoint = ${WAL_PAGES_PER_CHECKPOINT}`);
    if (maxPageCount !== undefined) database.exec(`PRAGMA max_page_count = ${maxPageCount}`);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
};

/** One connection to a file, with its prepared statements. Synchronous: a call returns when SQLite is done. */
export class Connection {
  /** For statements that are prepared once and kept, and for pragmas. */
  readonly database: DatabaseSync;
  readonly settings: ConnectionSettings;
  readonly #prepared = new LRUCache<string, Prepared>({ max: CACHED_STATEMENTS });
  readonly #durable: boolean;
  #waits: boolean;
  #unflushed = false;

  /** @throws StoreUnavailableError the file cannot be opened; the message says why @throws DamagedStoreError */
  constructor(settings: ConnectionSettings) {
    this.settings = settings;
    this.#durable = this.#waits = settings.synchronous === 'FULL';
    try {
      this.database = open(settings);
    } catch (error) {
      throw unusable(settings.path, error);
    }
  }

  /** Whether the commits from here on wait for the disk; of no effect where none ever does. Not inside a transaction. */
  waitForDisk(wanted: boolean): void {
    if (!this.#durable) return;
    if (!wanted) this.#unflushed = true;
    if (wanted === this.#waits) return;
    // Not prepared: this pragma takes effect when it is compiled, whenever it runs.
    this.database.exec(`PRAGMA synchronous = ${wanted ? 'FULL' : 'NORMAL'}`);
    this.#waits = wanted;
  }

  /** True when a commit may not have reached the disk yet. */
  get unflushed(): boolean {
    return this.#unflushed;
  }

  /**
   * Brings what was committed without waiting to the disk: a checkpoint flushes the log before it moves a page. On a full disk it
   * stays unflushed, and in the log.
   */
  flush(): void {
    try {
      this.checkpoint();
      this.#unflushed = false;
    } catch (error) {
      if (!isCertainlyNotStored(error)) throw error;
    }
  }

  /** Moves what it can from the write-ahead log into the file; no other connection has to wait for it. */
  checkpoint(): void {
    this.database.exec('PRAGMA wal_checkpoint(PASSIVE)');
  }

  get inTransaction(): boolean {
    return this.database.isTransaction;
  }

  get isOpen(): boolean {
    return this.database.isOpen;
  }

  execute(text: string, parameters: readonly Bindable[] = []): Executed {
    const prepared = this.#prepare(text);
    if (prepared.columns.length === 0) {
      const { changes } = prepared.statement.run(...parameters);
      return { columns: prepared.columns, values: [], changes: Number(changes) };
    }
    return this.#rows(prepared, parameters);
  }

  #rows(prepared: Prepared, parameters: readonly Bindable[]): Executed {
    const before = this.#totalChanges();
    const rows = prepared.statement.all(...parameters) as unknown as readonly (readonly unknown[])[];
    // A statement is prepared again by itself when another process changed the schema: `*` may then mean other columns.
    if (rows[0] && rows[0].length !== prepared.columns.length) prepared.columns = namesOf(prepared.statement);
    const changed = rows.length > 0 && this.#totalChanges() !== before;
    return { columns: prepared.columns, values: rows.flat(), changes: changed ? rows.length : 0 };
  }

  #totalChanges(): number {
    if (this.settings.role === 'reader') return 0;
    const { statement } = this.#prepare('select total_changes()');
    return (statement.get() as unknown as readonly number[])[0]!;
  }

  #prepare(text: string): Prepared {
    const known = this.#prepared.get(text);
    if (known) return known;
    const statement = this.database.prepare(text);
    statement.setReturnArrays(true);
    const prepared = { statement, columns: namesOf(statement) };
    this.#prepared.set(text, prepared);
    return prepared;
  }

  close(): void {
    this.#prepared.clear();
    if (this.database.isOpen) this.database.close();
  }
}

const ATTEMPTS = 50;
const PAUSE_MS = 100;

/**
 * Moves everything from the write-ahead log into the file and empties the log, so that no earlier version of a page is left in it.
 * @returns false when other connections used the log all the time; it is overwritten from its start soon after
 */
export const emptyWriteAheadLog = async (path: string): Promise<boolean> => {
  const database = new DatabaseSync(path);
  try {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      const result = database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get() as { readonly busy: number };
      if (result.busy === 0) return true;
      await pause(PAUSE_MS);
    }
    return false;
  } finally {
    database.close();
  }
};
