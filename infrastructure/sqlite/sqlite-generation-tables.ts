import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { BEFORE_GENERATIONS } from '../../application/maintenance/rebuild/generations.ts';
import type { GenerationTables } from '../../application/maintenance/rebuild/generations.ts';
import { migrate } from '../../application/sql/migrations/migrate.ts';
import type { SqlDatabase } from '../../application/sql/sql-database.ts';
import { opening } from '../support/opening.ts';
import { makeForOwner } from '../support/durable-files.ts';
import { SqliteDatabase } from './sqlite-database.ts';
import type { SqliteOptions } from './sqlite-database.ts';
import { readModelMigrations } from '../../application/sql/read-model-tables.ts';

type Options = Pick<SqliteOptions, 'logger' | 'writes' | 'pageCaches'>;

/** Whether this file holds read models, of whatever release. */
const hasTables = async (database: SqlDatabase): Promise<boolean> => {
  const query = sql<{ name: string }>`select name from sqlite_master where name = 'projection_checkpoint'`;
  return (await database.read({ compile: () => query.compile(database.builder) })).length > 0;
};

/** A file for each generation. */
export class SqliteGenerationTables implements GenerationTables {
  readonly #directory: string;
  readonly #options: Options;
  readonly #now: () => string;

  constructor(directory: string, options: Options, now: () => string) {
    this.#directory = directory;
    this.#options = options;
    this.#now = now;
  }

  async open(number: number): Promise<SqlDatabase> {
    const path = this.#pathOf(number);
    makeForOwner(path);
    // Rebuildable from the streams, so a power cut may cost its last transactions, never its consistency.
    const options = { ...this.#options, path, synchronous: 'NORMAL' } as const;
    return opening(async (kept) => {
      const database = kept(await SqliteDatabase.open(options));
      if (!(await hasTables(database))) await migrate(database, readModelMigrations, this.#now());
      return database;
    });
  }

  async exists(number: number): Promise<boolean> {
    return (await stat(this.#pathOf(number)).catch(() => undefined)) !== undefined;
  }

  async drop(number: number): Promise<void> {
    const path = this.#pathOf(number);
    for (const end of ['', '-wal', '-shm']) await rm(`${path}${end}`, { force: true });
  }

  openPair(one: number, other: number): Promise<SqlDatabase> {
    const attached = Object.fromEntries([one, other].map((n) => [this.schemaOf(n), this.#pathOf(n)]));
    return SqliteDatabase.open({
      ...this.#options,
      path: this.#pathOf(other),
      synchronous: 'NORMAL',
      writes: 'here',
      attached,
    });
  }

  schemaOf(number: number): string {
    return `read_model_${number}`;
  }

  #pathOf(number: number): string {
    const name = number === BEFORE_GENERATIONS ? 'read-model.db' : `read-model-${number}.db`;
    return join(this.#directory, name);
  }
}
