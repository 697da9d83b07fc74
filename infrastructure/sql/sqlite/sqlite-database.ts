import type { CompiledQuery, Kysely } from 'kysely';
import type { Logger } from '../../../application/ports/logger.ts';
import { sqliteQueryBuilder } from '../query-builder.ts';
import type { Schema } from '../schema.ts';
import type { Query, SqlDatabase, Statement, StatementResult, TransactionOptions } from '../sql-database.ts';
import { flatten, flattenQueries, rowsOf, unflatten } from './flat-unit.ts';
import { Thread, spawnThread } from './thread.ts';
import type { SpawnThread } from './thread.ts';

export interface SqliteOptions {
  /** A file; its folder exists. */
  readonly path: string;
  /** FULL survives a power cut; NORMAL may lose the last commits then, never more, so it fits what can be rebuilt. */
  readonly synchronous: 'FULL' | 'NORMAL';
  readonly logger: Logger;
  /** How long another process may hold the file before a call fails; default 10 s. */
  readonly busyTimeoutMs?: number;
  readonly spawn?: SpawnThread;
}

const BUSY_TIMEOUT_MS = 10_000;

/**
 * A SQLite file behind two threads: a writer that commits whatever waits in one physical transaction, and a reader that
 * does not wait for the writer's disk. WAL lets the reader see every commit that was answered.
 */
export class SqliteDatabase implements SqlDatabase {
  readonly dialect = 'sqlite';
  readonly builder: Kysely<Schema> = sqliteQueryBuilder();
  readonly #writer: Thread;
  readonly #reader: Thread;

  private constructor(writer: Thread, reader: Thread) {
    this.#writer = writer;
    this.#reader = reader;
  }

  static async open(options: SqliteOptions): Promise<SqliteDatabase> {
    const { path, synchronous, logger, busyTimeoutMs = BUSY_TIMEOUT_MS, spawn = spawnThread } = options;
    const settings = { path, synchronous, busyTimeoutMs };
    const opening = (['writer', 'reader'] as const).map((role) =>
      Thread.open({ ...settings, role }, spawn, logger),
    );
    try {
      const [writer, reader] = await Promise.all(opening);
      return new SqliteDatabase(writer!, reader!);
    } catch (error) {
      const opened = await Promise.allSettled(opening);
      for (const thread of opened) if (thread.status === 'fulfilled') await thread.value.close();
      throw error;
    }
  }

  async read<Row>(query: Query<Row>): Promise<readonly Row[]> {
    const [rows] = await this.#select([query.compile()]);
    return rows as readonly Row[];
  }

  async snapshot<Rows extends readonly unknown[]>(queries: {
    readonly [Index in keyof Rows]: Query<Rows[Index]>;
  }): Promise<{ readonly [Index in keyof Rows]: readonly Rows[Index][] }> {
    const tables = await this.#select((queries as readonly Query<unknown>[]).map((query) => query.compile()));
    return tables as { readonly [Index in keyof Rows]: readonly Rows[Index][] };
  }

  async transaction(
    statements: readonly Statement[],
    { durability = 'full' }: TransactionOptions = {},
  ): Promise<readonly StatementResult[]> {
    const unit = flatten(statements);
    return unflatten(await this.#writer.call(durability === 'relaxed' ? { ...unit, relaxed: true } : unit));
  }

  async close(): Promise<void> {
    await this.#reader.close();
    await this.#writer.close();
  }

  async #select(queries: readonly CompiledQuery[]): Promise<readonly (readonly unknown[])[]> {
    const { tables } = await this.#reader.call(flattenQueries(queries));
    const rows: (readonly unknown[])[] = queries.map(() => []);
    for (const { statement, columns, values } of tables) rows[statement] = rowsOf(columns, values);
    return rows;
  }
}
