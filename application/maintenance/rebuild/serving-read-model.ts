import type { Kysely } from 'kysely';
import { DamagedStoreError, OutcomeUnknownError, StoreUnavailableError } from '../../ports/event-store.ts';
import type { SqlWatch } from '../../ports/observation.ts';
import type { Schema } from '../../sql/schema.ts';
import { GuardFailedError } from '../../sql/sql-database.ts';
import type { Generations } from './generations.ts';
import type {
  Query,
  SqlDatabase,
  SqlDialect,
  Statement,
  StatementResult,
  TransactionOptions,
} from '../../sql/sql-database.ts';

export type OnDamage = (generation: number, error: DamagedStoreError) => void;

interface Opened {
  readonly number: number;
  readonly database: SqlDatabase;
}

const ATTEMPTS = 5;
const LOOK_EVERY_MS = 1_000;
const LOOK_AGAIN_MS = 100;

/** Each query asks in its own snapshot whether another generation has succeeded, so no answer mixes two. */
export class ServingReadModel implements SqlDatabase {
  readonly dialect: SqlDialect;
  readonly builder: Kysely<Schema>;
  readonly #generations: Generations;
  readonly #successors: Query<{ successor: number | null }>;
  #current: Opened;
  #moving: Promise<void> | undefined;
  readonly #onDamage: OnDamage;
  readonly #watch: SqlWatch | undefined;
  #lookedAt = performance.now();
  #looking: Promise<void> | undefined;
  #serves = true;

  private constructor(
    generations: Generations,
    current: Opened,
    { onDamage, watch }: { readonly onDamage: OnDamage; readonly watch: SqlWatch | undefined },
  ) {
    this.#generations = generations;
    this.#onDamage = onDamage;
    this.#watch = watch;
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
  static async open(
    generations: Generations,
    onDamage: OnDamage = () => undefined,
    watch?: SqlWatch,
  ): Promise<ServingReadModel> {
    const number = await generations.serving();
    if (number === undefined) throw new Error('no generation of the read models serves');
    const database = await generations.openTables(number);
    return new ServingReadModel(generations, { number, database }, { onDamage, watch });
  }

  get generation(): number {
    return this.#current.number;
  }

  async read<Row>(query: Query<Row>): Promise<readonly Row[]> {
    try {
      const [rows] = await this.#snapshot<[Row]>([query]);
      return rows;
    } catch (error) {
      this.#watch?.failed('read', error);
      throw error;
    }
  }

  async snapshot<Rows extends readonly unknown[]>(queries: {
    readonly [Index in keyof Rows]: Query<Rows[Index]>;
  }): Promise<{ readonly [Index in keyof Rows]: readonly Rows[Index][] }> {
    try {
      return await this.#snapshot<Rows>(queries);
    } catch (error) {
      this.#watch?.failed('snapshot', error);
      throw error;
    }
  }

  /** A generation that no longer serves stores nothing: its checkpoints say so. */
  async transaction(
    statements: readonly Statement[],
    options?: TransactionOptions,
  ): Promise<readonly StatementResult[]> {
    const startedAt = this.#watch ? performance.now() : 0;
    try {
      const results = await this.#transaction(statements, options);
      this.#watch?.committed(performance.now() - startedAt);
      return results;
    } catch (error) {
      this.#watch?.failed('transaction', error);
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.#moving;
    await this.#current.database.close();
  }

  async #snapshot<Rows extends readonly unknown[]>(queries: {
    readonly [Index in keyof Rows]: Query<Rows[Index]>;
  }): Promise<{ readonly [Index in keyof Rows]: readonly Rows[Index][] }> {
    const all = [this.#successors, ...(queries as readonly Query<unknown>[])];
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      await this.#ensureServes();
      const current = this.#current;
      try {
        const [successors, ...tables] = await current.database.snapshot<readonly unknown[]>(all);
        const [row] = successors as readonly { successor: number }[];
        if (!row) return tables as unknown as { readonly [Index in keyof Rows]: readonly Rows[Index][] };
        await this.#moveTo(Number(row.successor));
      } catch (error) {
        if (error instanceof DamagedStoreError) await this.#quarantine(current, error);
        else if (!(await this.#moved(current))) throw error;
      }
    }
    throw new Error('the read models changed their generation at every attempt to read them');
  }

  async #transaction(
    statements: readonly Statement[],
    options: TransactionOptions | undefined,
  ): Promise<readonly StatementResult[]> {
    await this.#ensureServes();
    const current = this.#current;
    const { generation = current.number } = options ?? {};
    if (generation !== current.number) throw new GuardFailedError(0, 0);
    try {
      return await current.database.transaction(statements, options);
    } catch (error) {
      if (error instanceof DamagedStoreError) await this.#quarantine(current, error);
      if (error instanceof GuardFailedError || !(await this.#moved(current))) throw error;
      throw new OutcomeUnknownError('another generation of the read models serves by now', { cause: error });
    }
  }

  /** A generation that was found damaged, here or elsewhere, answers nothing more. @throws StoreUnavailableError none serves now */
  async #ensureServes(): Promise<void> {
    const every = this.#serves ? LOOK_EVERY_MS : LOOK_AGAIN_MS;
    if (performance.now() - this.#lookedAt >= every)
      await (this.#looking ??= this.#look().finally(() => (this.#looking = undefined)));
    if (!this.#serves)
      throw new StoreUnavailableError('the read models are damaged and are being built anew');
  }

  async #look(): Promise<void> {
    this.#lookedAt = performance.now();
    let serving: number | undefined;
    try {
      serving = await this.#generations.serving();
    } catch {
      // The generation at hand goes on serving while the register of generations cannot be read.
      return;
    }
    this.#serves = serving !== undefined;
    // A successor is named in the tables of this generation first, so the register may be behind.
    if (serving !== undefined && serving > this.#current.number) await this.#moveTo(serving);
  }

  async #quarantine({ number }: Opened, error: DamagedStoreError): Promise<void> {
    if (await this.#generations.quarantine(number)) this.#onDamage(number, error);
    this.#lookedAt = -Infinity;
    await this.#ensureServes();
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
      await this.#generations.succeeded(number, before.number);
    } finally {
      await before.database.close();
    }
  }
}
