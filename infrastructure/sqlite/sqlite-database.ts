import { basename } from 'node:path';
import type { CompiledQuery, Kysely } from 'kysely';
import { OutcomeUnknownError, StoreUnavailableError } from '../../application/ports/event-store.ts';
import { messageOf } from '../../application/support/failures.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { SqlWatch } from '../../application/ports/observation.ts';
import { Connection } from './connection.ts';
import type { Bindable, ConnectionSettings, PageCaches } from './connection.ts';
import { DatabaseThread } from './database-thread.ts';
import { NO_GUARD, UnitWriter, readUnit, resultsOf } from './units.ts';
import type { FlatUnit, Outcome } from './units.ts';
import { TurnLimit } from '../support/time.ts';
import { queryBuilder } from '../../application/sql/engine.ts';
import type { Schema } from '../../application/sql/schema.ts';
import type {
  Query,
  SqlDatabase,
  Statement,
  StatementResult,
  TransactionOptions,
} from '../../application/sql/sql-database.ts';

/** SQLite would store a NaN as NULL without a word, and knows no booleans; anything else is a mistake of the caller. */
const bindable = (value: unknown): Bindable => {
  if (typeof value === 'string' || value === null || typeof value === 'bigint') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (value instanceof Uint8Array) return value;
  throw new TypeError(`a table cannot hold ${typeof value === 'number' ? String(value) : typeof value}`);
};

export const flatten = (statements: readonly Statement[]): FlatUnit => {
  const indexes = new Map<string, number>();
  const calls: number[] = [];
  const parameters: Bindable[] = [];
  for (const { query, expectChanges } of statements) {
    let text = indexes.get(query.sql);
    if (text === undefined) indexes.set(query.sql, (text = indexes.size));
    calls.push(text, query.parameters.length, expectChanges ?? NO_GUARD);
    for (const value of query.parameters) parameters.push(bindable(value));
  }
  return { texts: [...indexes.keys()], calls, parameters };
};

const flattenQueries = (queries: readonly CompiledQuery[]): FlatUnit =>
  flatten(queries.map((query) => ({ query })));

export interface SqliteOptions {
  /** A file; its folder exists. */
  readonly path: string;
  /** FULL survives a power cut; NORMAL may lose the last commits then, never more, so it fits what can be rebuilt. */
  readonly synchronous: 'FULL' | 'NORMAL';
  readonly logger: Logger;
  /** Files whose tables reads find as well, by the name of their schema. */
  readonly attached?: Readonly<Record<string, string>>;
  /** How long another process may hold the file before a call fails; default 10 s. */
  readonly busyTimeoutMs?: number;
  /** `thread` (default): a thread of its own waits for the disk. `here`: this thread does, and saves a message a transaction. */
  readonly writes?: 'thread' | 'here';
  readonly pageCaches?: PageCaches;
  readonly watch?: SqlWatch | undefined;
}

const THREAD = new URL('./unit-thread.ts', import.meta.url);
const BUSY_TIMEOUT_MS = 10_000;
/** Reads wait for no writer; only for another process that is just opening or repairing the file. */
const READER_TIMEOUT_MS = 2_000;
const CLOSE_GRACE_MS = 5_000;
const LIMITS = { maxCalls: 100_000, maxCharacters: Infinity };

/** What writes a file's tables: a thread of its own, or the thread that asks. */
interface UnitCarrier {
  /** @throws StoreUnavailableError @throws OutcomeUnknownError */
  call(unit: FlatUnit): Promise<Outcome>;
  close(graceMs: number): Promise<void>;
}

/** Writes where it is asked, on a connection of its own: for a thread that may wait for the disk, and saves it every message. */
class DirectUnits implements UnitCarrier {
  readonly #settings: ConnectionSettings;
  readonly #turn = new TurnLimit();
  #writer: UnitWriter | undefined;
  #last: Promise<void> = Promise.resolve();
  #closed = false;

  /** @throws StoreUnavailableError the file cannot be opened @throws DamagedStoreError */
  constructor(settings: ConnectionSettings) {
    this.#settings = settings;
    this.#writer = new UnitWriter(new Connection(settings));
  }

  async call(unit: FlatUnit): Promise<Outcome> {
    if (this.#closed) throw new StoreUnavailableError(`${this.#settings.path} is closed`);
    const before = this.#last;
    const mine = Promise.withResolvers<void>();
    // In the order of the calls, also where one of them gives way to the rest of the event loop.
    this.#last = mine.promise;
    await before;
    await this.#turn.pass();
    try {
      return this.#write(unit);
    } finally {
      mine.resolve();
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#last;
    this.#writer?.close();
    this.#writer = undefined;
  }

  #write(unit: FlatUnit): Outcome {
    const writer = (this.#writer ??= new UnitWriter(new Connection(this.#settings)));
    try {
      const [outcome] = writer.carryOut([unit]);
      writer.afterwards();
      return outcome!;
    } catch (error) {
      // What COMMIT has stored is not known, and this connection must not go on.
      this.#writer = undefined;
      writer.close();
      throw new OutcomeUnknownError(messageOf(error), { cause: error });
    }
  }
}

const openWriter = async (
  settings: ConnectionSettings,
  { path, logger, writes = 'thread' }: SqliteOptions,
): Promise<UnitCarrier> => {
  if (writes === 'thread')
    return DatabaseThread.start<FlatUnit, Outcome>({
      name: `${basename(path)} writer`,
      entry: THREAD,
      data: settings,
      limits: LIMITS,
      logger,
    });
  return new DirectUnits(settings);
};

/**
 * A SQLite file: one thread writes it, committing whatever waits in one physical transaction, and reads are answered where they are
 * asked, because they never wait for the disk of a writer. WAL lets a read see every commit that was answered.
 */
export class SqliteDatabase implements SqlDatabase {
  readonly dialect = 'sqlite';
  readonly builder: Kysely<Schema> = queryBuilder('sqlite');
  readonly #writer: UnitCarrier;
  readonly #reader: Connection;
  readonly #turn = new TurnLimit();
  readonly #watch: SqlWatch | undefined;

  private constructor(writer: UnitCarrier, reader: Connection, watch: SqlWatch | undefined) {
    this.#writer = writer;
    this.#reader = reader;
    this.#watch = watch;
  }

  /** @throws StoreUnavailableError */
  static async open(options: SqliteOptions): Promise<SqliteDatabase> {
    const { path, synchronous, attached, pageCaches, busyTimeoutMs = BUSY_TIMEOUT_MS } = options;
    const settings: ConnectionSettings = {
      path,
      synchronous,
      busyTimeoutMs,
      role: 'writer',
      secureDelete: true,
      pageCacheBytes: pageCaches?.writer,
    };
    const writer = await openWriter(settings, options);
    try {
      const timeout = Math.min(busyTimeoutMs, READER_TIMEOUT_MS);
      return new SqliteDatabase(
        writer,
        new Connection({
          ...settings,
          attached,
          pageCacheBytes: pageCaches?.reader,
          role: 'reader',
          busyTimeoutMs: timeout,
        }),
        options.watch,
      );
    } catch (error) {
      await writer.close(0);
      throw error;
    }
  }

  async read<Row>(query: Query<Row>): Promise<readonly Row[]> {
    const [rows] = await this.#select('read', [query.compile()]);
    return rows as readonly Row[];
  }

  async snapshot<Rows extends readonly unknown[]>(queries: {
    readonly [Index in keyof Rows]: Query<Rows[Index]>;
  }): Promise<{ readonly [Index in keyof Rows]: readonly Rows[Index][] }> {
    const all = (queries as readonly Query<unknown>[]).map((query) => query.compile());
    const tables = await this.#select('snapshot', all);
    return tables as { readonly [Index in keyof Rows]: readonly Rows[Index][] };
  }

  async transaction(
    statements: readonly Statement[],
    { durability = 'full' }: TransactionOptions = {},
  ): Promise<readonly StatementResult[]> {
    const startedAt = this.#watch ? performance.now() : 0;
    try {
      const unit = flatten(statements);
      const outcome = await this.#writer.call(durability === 'relaxed' ? { ...unit, relaxed: true } : unit);
      const results = resultsOf(outcome);
      this.#watch?.committed(performance.now() - startedAt);
      return results;
    } catch (error) {
      this.#watch?.failed('transaction', error);
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.#writer.close(CLOSE_GRACE_MS);
    this.#reader.close();
  }

  async #select(
    call: 'read' | 'snapshot',
    queries: readonly CompiledQuery[],
  ): Promise<readonly (readonly unknown[])[]> {
    try {
      await this.#turn.pass();
      if (!this.#reader.isOpen) throw new StoreUnavailableError('the database is closed');
      return resultsOf(readUnit(this.#reader, flattenQueries(queries))).map(({ rows }) => rows);
    } catch (error) {
      this.#watch?.failed(call, error);
      throw error;
    }
  }
}
