import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import { BEFORE_GENERATIONS } from '../../application/maintenance/rebuild/generations.ts';
import type { GenerationTables } from '../../application/maintenance/rebuild/generations.ts';
import { alone } from '../../application/sql/engine.ts';
import { migrate } from '../../application/sql/migrations/migrate.ts';
import type { SqlDatabase } from '../../application/sql/sql-database.ts';
import { opening } from '../support/opening.ts';
import { PostgresDatabase } from './postgres-database.ts';
import type { PostgresOptions } from './postgres-database.ts';
import { readModelMigrations } from '../../application/sql/read-model-tables.ts';

/** What versions up to 2026.11.1 made, in two copies each. */
const TABLES_BEFORE = [
  ...['loan', 'installment', 'installment_credit', 'document', 'status_history', 'reconciled_operation'],
  ...['notified_payment', 'completed_repurchase', 'portfolio_operation', 'portfolio_installment'],
  ...['portfolio_credit', 'portfolio_flow'],
].flatMap((name) => [name, `${name}__b`]);

/** A schema for each generation, over connections of its own: readers do not wait behind deliveries. */
export class PostgresGenerationTables implements GenerationTables {
  readonly #service: SqlDatabase;
  readonly #options: PostgresOptions;
  readonly #home: string;
  readonly #now: () => string;

  private constructor(service: SqlDatabase, options: PostgresOptions, { home, now }: Home) {
    this.#service = service;
    this.#options = options;
    this.#home = home;
    this.#now = now;
  }

  /** @param service over connections to the same database */
  static async of(
    service: SqlDatabase,
    options: PostgresOptions,
    now: () => string,
  ): Promise<PostgresGenerationTables> {
    const schema = sql<{ home: string }>`select current_schema()::text as home`;
    const [row] = await service.read({ compile: () => schema.compile(service.builder) });
    return new PostgresGenerationTables(service, options, { home: row!.home, now });
  }

  async open(number: number): Promise<SqlDatabase> {
    const schema = this.schemaOf(number);
    const create = sql`create schema if not exists ${sql.id(schema)}`;
    const isThere = await this.exists(number);
    if (!isThere) await this.#execute('read model generations', [create]);
    return opening(async (kept) => {
      const database = kept(await PostgresDatabase.open({ ...this.#options, schema }));
      if (!isThere) await migrate(database, readModelMigrations, this.#now());
      return database;
    });
  }

  async exists(number: number): Promise<boolean> {
    const table = `"${this.schemaOf(number)}".projection_checkpoint`;
    const there = sql<{
      there: number;
    }>`select case when to_regclass(${table}::text) is null then 0 else 1 end as there`;
    const [row] = await this.#service.read({ compile: () => there.compile(this.#service.builder) });
    return Number(row!.there) === 1;
  }

  async drop(number: number): Promise<void> {
    if (number !== BEFORE_GENERATIONS)
      return this.#execute('read model generations', [
        sql`drop schema if exists ${sql.id(this.schemaOf(number))} cascade`,
      ]);
    const tables = [...TABLES_BEFORE, 'quarantined_operation', 'projection_checkpoint', 'projection_copy'];
    const names = sql.join(tables.map((table) => sql.table(`${this.#home}.${table}`)));
    return this.#execute('read model generations', [sql`drop table if exists ${names}`]);
  }

  /** Any connection reaches all schemas. */
  openPair(): Promise<SqlDatabase> {
    return PostgresDatabase.open(this.#options);
  }

  schemaOf(number: number): string {
    if (number === BEFORE_GENERATIONS) return this.#home;
    return `${this.#home === 'public' ? '' : `${this.#home}_`}read_model_${number}`;
  }

  /** Two processes often start together, and the server does not let two create the same schema at once. */
  async #execute(lock: string, texts: readonly RawBuilder<unknown>[]): Promise<void> {
    const statements = texts.map((text) => ({ query: text.compile(this.#service.builder) }));
    await this.#service.transaction([...alone(this.#service, lock), ...statements]);
  }
}

interface Home {
  readonly home: string;
  readonly now: () => string;
}
