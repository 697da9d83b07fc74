import { DatabaseSync } from 'node:sqlite';
import type { StatementSync } from 'node:sqlite';
import { LRUCache } from 'lru-cache';
import { isBusy } from './sqlite-errors.ts';
import type { Bindable, ThreadSettings } from './messages.ts';

interface Prepared {
  readonly statement: StatementSync;
  columns: readonly string[];
}

export interface Executed {
  readonly columns: readonly string[];
  /** Row after row, flat. */
  readonly values: readonly unknown[];
  readonly changes: number;
}

const CACHED_STATEMENTS = 500;
const CACHE_KIB = 32_768;
const WAL_LIMIT_BYTES = 67_108_864;
const WAL_PAGES_PER_CHECKPOINT = 4_000;
const RETRY_PAUSE_MS = 10;

const pause = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

/** Tries again while another connection is in the way, for operations that SQLite's own busy handler does not cover. */
export const whileBusy = <T>(operation: () => T, timeoutMs: number): T => {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    try {
      return operation();
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error;
      pause(RETRY_PAUSE_MS);
    }
  }
};

const namesOf = (statement: StatementSync): readonly string[] => statement.columns().map(({ name }) => name);

/** One connection to a file, with its prepared statements. Synchronous: it lives in a thread of its own. */
export class Connection {
  readonly #database: DatabaseSync;
  readonly #prepared = new LRUCache<string, Prepared>({ max: CACHED_STATEMENTS });
  readonly #durable: boolean;
  #waits: boolean;
  #unflushed = false;

  constructor(settings: ThreadSettings) {
    const { path, role, synchronous, busyTimeoutMs } = settings;
    this.#durable = this.#waits = synchronous === 'FULL';
    this.#database = new DatabaseSync(path, { timeout: busyTimeoutMs, enableForeignKeyConstraints: true });
    this.#database.exec(`PRAGMA cache_size = -${CACHE_KIB}; PRAGMA temp_store = MEMORY`);
    if (role === 'reader') {
      this.#database.exec('PRAGMA query_only = ON');
      return;
    }
    // Turning a new file into a WAL file needs it alone, and SQLite does not wait for that by itself.
    whileBusy(() => this.#database.exec('PRAGMA journal_mode = WAL'), busyTimeoutMs);
    // What was deleted is overwritten: a key that is gone must not lie in a free page.
    this.#database
      .exec(`PRAGMA secure_delete = ON; PRAGMA synchronous = ${synchronous}; PRAGMA journal_size_limit = ${WAL_LIMIT_BYTES};
      PRAGMA wal_autocheckpoint = ${WAL_PAGES_PER_CHECKPOINT}`);
  }

  /** Whether the commits from here on wait for the disk; of no effect where none ever does. Not inside a transaction. */
  waitForDisk(wanted: boolean): void {
    if (!this.#durable) return;
    if (!wanted) this.#unflushed = true;
    if (wanted === this.#waits) return;
    // Not prepared: this pragma takes effect when it is compiled, whenever it runs.
    this.#database.exec(`PRAGMA synchronous = ${wanted ? 'FULL' : 'NORMAL'}`);
    this.#waits = wanted;
  }

  /** True when a commit may not have reached the disk yet. */
  get unflushed(): boolean {
    return this.#unflushed;
  }

  /** Brings what was committed without waiting to the disk: a checkpoint flushes the log before it moves a page. */
  flush(): void {
    this.#unflushed = false;
    this.#database.exec('PRAGMA wal_checkpoint(PASSIVE)');
  }

  get inTransaction(): boolean {
    return this.#database.isTransaction;
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
    const { statement } = this.#prepare('select total_changes()');
    return (statement.get() as unknown as readonly number[])[0]!;
  }

  #prepare(text: string): Prepared {
    const known = this.#prepared.get(text);
    if (known) return known;
    const statement = this.#database.prepare(text);
    statement.setReturnArrays(true);
    const prepared = { statement, columns: namesOf(statement) };
    this.#prepared.set(text, prepared);
    return prepared;
  }

  close(): void {
    this.#prepared.clear();
    this.#database.close();
  }
}
