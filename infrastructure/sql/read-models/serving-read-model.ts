import type { Kysely } from 'kysely';
import { OutcomeUnknownError } from '../../../application/ports/event-store.ts';
import type { Schema } from '../schema.ts';
import { GuardFailedError } from '../sql-database.ts';
import type {
  Query,
  SqlDatabase,
  SqlDialect,
  Statement,
  StatementResult,
  TransactionOptions,
} from '../sql-database.ts';

/** Where generations are found. */
export interface ServingGenerations {
  /** Undefined when none serves. */
  serving(): Promise<number | undefined>;
  openTables(number: number): Promise<SqlDatabase>;
  /** Records that one succeeded the other, in case the process that let it serve ended before that. */
  succeeded(number: number): Promise<void>;
}

interface Opened {
  readonly number: number;
  readonly database: SqlDatabase;
}

const ATTEMPTS = 5;

/**
 * The read model as its readers and writers see it: the generation that serves. Each query asks in its own snapshot whether another
 * generation has succeeded that one, so an answer never mixes two and never comes from one that no longer serves.
 */
export class ServingReadModel implements SqlDatabase {
  readonly dialect: SqlDialect;
  readonly builder: Kysely<Schema>;
  readonly #generations: ServingGenerations;
  readonly #successors: Query<{ successor: number | null }>;
  #current: Opened;
  #moving: Promise<void> | undefined;

  private constructor(generations: ServingGenerations, current: Opened) {
    this.#generations = generations;
    this.#current = current;
    this.dialect = current.database.dialect;
    this.builder = current.database.builder;
    const successors = this.builder
      .selectFrom('projection_checkpoint')
      .select('successor')
      .where('successor', 'is not', null)
      .limit(1)
      .compile();
    this.#successors = { compile: () => successors };
  }

  /** @throws Error when no generation serves */
  static async open(generations: ServingGenerations): Promise<ServingReadModel> {
    const number = await generations.serving();
    if (number === undefined) throw new Error('no generation of the read models serves');
    const database = await generations.openTables(number);
    return new ServingReadModel(generations, { number, database });
  }

  async read<Row>(query: Query<Row>): Promise<readonly Row[]> {
    const [rows] = await this.snapshot<[Row]>([query]);
    return rows;
  }

  async snapshot<Rows extends readonly unknown[]>(queries: {
    readonly [Index in keyof Rows]: Query<Rows[Index]>;
  }): Promise<{ readonly [Index in keyof Rows]: readonly Rows[Index][] }> {
    const all = [this.#successors, ...(queries as readonly Query<unknown>[])];
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      const current = this.#current;
      try {
        const [successors, ...tables] = await current.database.snapshot<readonly unknown[]>(all);
        const [row] = successors as readonly { successor: number }[];
        if (!row) return tables as unknown as { readonly [Index in keyof Rows]: readonly Rows[Index][] };
        await this.#moveTo(Number(row.successor));
      } catch (error) {
        if (!(await this.#moved(current))) throw error;
      }
    }
    throw new Error('the read models changed their generation at every attempt to read them');
  }

  /** A generation that no longer serves stores nothing: its checkpoints say so. */
  async transaction(
    statements: readonly Statement[],
    options?: TransactionOptions,
  ): Promise<readonly StatementResult[]> {
    const current = this.#current;
    try {
      return await current.database.transaction(statements, options);
    } catch (error) {
      if (error instanceof GuardFailedError || !(await this.#moved(current))) throw error;
      throw new OutcomeUnknownError('another generation of the read models serves by now', { cause: error });
    }
  }

  async close(): Promise<void> {
    await this.#moving;
    await this.#current.database.close();
  }

  /** True when another generation serves than the one that failed: it was closed here, or dropped by another process. */
  async #moved(failed: Opened): Promise<boolean> {
    if (this.#current !== failed) return true;
    const serving = await this.#generations.serving();
    if (serving === undefined || serving === failed.number) return false;
    await this.#moveTo(serving);
    return true;
  }

  #moveTo(number: number): Promise<void> {
    this.#moving ??= this.#move(number).finally(() => (this.#moving = undefined));
    return this.#moving;
  }

  /** @param successor of the one at hand; since it was named, it may have been succeeded and dropped itself */
  async #move(successor: number): Promise<void> {
    const number = Math.max(successor, (await this.#generations.serving()) ?? successor);
    const before = this.#current;
    if (before.number === number) return;
    this.#current = { number, database: await this.#generations.openTables(number) };
    try {
      await this.#generations.succeeded(number);
    } finally {
      await before.database.close();
    }
  }
}
