import { basename } from 'node:path';
import type { CompiledQuery, Kysely } from 'kysely';
import { DamagedStoreError, StoreUnavailableError } from '../../application/ports/event-store.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { SqlWatch } from '../../application/ports/observation.ts';
import { Connection } from './connection.ts';
import type { Bindable, ConnectionSettings, PageCaches } from './connection.ts';
import { DatabaseThread } from './database-thread.ts';
import { DirectUnits, NO_GUARD, hasFailed, readUnit } from './units.ts';
import type { Failure, FlatResults, FlatUnit, Outcome, UnitCarrier } from './units.ts';
import { TurnLimit } from '../support/time.ts';
import { queryBuilder } from '../../application/sql/query-builder.ts';
import type { Schema } from '../../application/sql/schema.ts';
import { ConstraintError, GuardFailedError } from '../../application/sql/sql-database.ts';
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

type Row = Readonly<Record<string, unknown>>;

const rowsOf = (columns: readonly string[], values: readonly unknown[]): readonly Row[] => {
  const rows: Row[] = [];
  for (let at = 0; at < values.length; at += columns.length) {
    const row: Record<string, unknown> = {};
    for (let i = 0; i < columns.length; i++) row[columns[i]!] = values[at + i];
    rows.push(row);
  }
  return rows;
};

const NO_ROWS: readonly Row[] = [];

const unflatten = (results: FlatResults): readonly StatementResult[] => {
  const rows = new Map(results.tables.map((table) => [table.statement, rowsOf(table.columns, table.values)]));
  return results.changes.map((changes, index) => ({ changes, rows: rows.get(index) ?? NO_ROWS }));
};

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

const errorOf = (failure: Failure): Error => {
  switch (failure.kind) {
    case 'guard':
      return new GuardFailedError(failure.index, failure.changes);
    case 'constraint':
      return new ConstraintError(failure.message);
    case 'unavailable':
      return new StoreUnavailableError(failure.message);
    case 'damaged':
      return new DamagedStoreError(failure.message);
    case 'error':
      return new Error(failure.message);
  }
};

/** @throws the error that a failure stands for */
const succeeded = (outcome: Outcome): FlatResults => {
  if (hasFailed(outcome)) throw errorOf(outcome);
  return outcome;
};

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
      ...(pageCaches && { pageCacheBytes: pageCaches.writer }),
    };
    const writer = await openWriter(settings, options);
    try {
      const timeout = Math.min(busyTimeoutMs, READER_TIMEOUT_MS);
      return new SqliteDatabase(
        writer,
        new Connection({
          ...settings,
          ...(attached && { attached }),
          ...(pageCaches && { pageCacheBytes: pageCaches.reader }),
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
      const results = unflatten(succeeded(outcome));
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
      const { tables } = succeeded(readUnit(this.#reader, flattenQueries(queries)));
      const rows: (readonly unknown[])[] = queries.map(() => []);
      for (const { statement, columns, values } of tables) rows[statement] = rowsOf(columns, values);
      return rows;
    } catch (error) {
      this.#watch?.failed(call, error);
      throw error;
    }
  }
}
