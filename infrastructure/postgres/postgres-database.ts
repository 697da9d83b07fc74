import {
  DeleteQueryNode,
  ExpressionWrapper,
  InsertQueryNode,
  QueryNode,
  SelectionNode,
  UpdateQueryNode,
  sql,
} from 'kysely';
import type { CompiledQuery, Kysely } from 'kysely';
import { LRUCache } from 'lru-cache';
import { OutcomeUnknownError, StoreUnavailableError } from '../../application/ports/event-store.ts';
import type { SqlWatch } from '../../application/ports/observation.ts';
import { BatchFailure, bound, isConstraint, isStale, isUnavailable, isWorthRepeating } from './batch.ts';
import type { BatchResult, BatchStatement } from './batch.ts';
import { ConnectionPool } from './connection-pool.ts';
import type { PoolOptions } from './connection-pool.ts';
import { pause } from '../support/time.ts';
import { queryBuilder } from '../../application/sql/engine.ts';
import type { Schema } from '../../application/sql/schema.ts';
import { ConstraintError, GuardFailedError } from '../../application/sql/sql-database.ts';
import type {
  Query,
  SqlDatabase,
  Statement,
  StatementResult,
  TransactionOptions,
} from '../../application/sql/sql-database.ts';

const BUILDER: Kysely<Schema> = queryBuilder('postgres');

/** What text no integer is, and which PostgreSQL quotes in its refusal, with the quotation marks of whatever language its messages have. */
const MARK = 'rows:';
const REFUSED = /rows:(\d+)/;
const INVALID_TEXT = '22P02';

type Changing = InsertQueryNode | UpdateQueryNode | DeleteQueryNode;

/** What the query builder made of a statement that changes rows. @throws Error for text and for what only reads: they cannot be guarded */
const changing = ({ query, sql: text }: CompiledQuery): Changing => {
  if (InsertQueryNode.is(query) || UpdateQueryNode.is(query) || DeleteQueryNode.is(query)) return query;
  throw new Error(`only an insert, update or delete of the query builder can expect its changes: ${text}`);
};

const ONE = [SelectionNode.create(sql`1`.as('one').toOperationNode())];

/**
 * A statement that the server itself refuses when it changes another number of rows, so that COMMIT can travel along with it.
 * The limit is evaluated once, before the first row, even if there is none. Its parameters are those of the statement.
 */
const guarded = (query: CompiledQuery, changes: number): string => {
  const node = changing(query);
  const statement = new ExpressionWrapper(node.returning ? node : QueryNode.cloneWithReturning(node, ONE));
  const count = sql`select case when count(*) = ${sql.lit(changes)} then null
    else cast(${sql.lit(MARK)} || count(*) as bigint) end from guarded`;
  return sql`with guarded as (${statement}) select * from guarded limit (${count})`.compile(BUILDER).sql;
};

/** The error as what it means, if it is the refusal of a guard. */
const guardFailure = (
  { code, message }: { readonly code?: string | undefined; readonly message: string },
  index: number,
): GuardFailedError | undefined => {
  const changes = code === INVALID_TEXT ? REFUSED.exec(message)?.[1] : undefined;
  return changes === undefined ? undefined : new GuardFailedError(index, Number(changes));
};

const DISK_FULL = '53100';
const REMEDY = '; make room where the server keeps its data, then do this again';

const describe = ({ message, code }: BatchFailure): string =>
  `PostgreSQL: ${message}${code === undefined ? '' : ` (${code})`}${code === DISK_FULL ? REMEDY : ''}`;

const refusal = (failure: BatchFailure): Error => {
  const { code = '' } = failure;
  const text = describe(failure);
  if (isConstraint(code)) return new ConstraintError(text);
  return isUnavailable(code) ? new StoreUnavailableError(text) : new Error(text, { cause: failure.cause });
};

/** A failed read as the port describes it. */
const readError = (error: unknown): unknown => {
  if (!(error instanceof BatchFailure)) return error;
  return error.kind === 'refused' ? refusal(error) : new StoreUnavailableError(describe(error));
};

/** A failed transaction as the port describes it; `before` statements of the adapter came ahead of the caller's. */
const writeError = (
  error: unknown,
  { statements, before }: { readonly statements: number; readonly before: number },
): unknown => {
  if (!(error instanceof BatchFailure)) return error;
  if (error.kind === 'unsent') return new StoreUnavailableError(describe(error));
  // Told to go while it committed, a server may have committed.
  const committing = error.index >= before + statements;
  if (error.kind === 'lost' || (error.fatal && committing)) return new OutcomeUnknownError(describe(error));
  return guardFailure(error, error.index - before) ?? refusal(error);
};

export type PostgresOptions = PoolOptions & { readonly watch?: SqlWatch | undefined };

const OLDEST_VERSION = 150_000;

const ATTEMPTS = 5;
const PAUSE_MS = 20;

const plain = (text: string): BatchStatement => ({ text, values: [] });
/** Of one snapshot for all; a single statement has one anyway. */
const SNAPSHOT = plain('begin isolation level repeatable read, read only');
const COMMIT = plain('commit');
const SERVER_TIME = plain('select floor(extract(epoch from clock_timestamp()) * 1000) as now');
/**
 * These find few rows by their keys and come by the thousand, so one plan serves for all values: making another costs more than running
 * it. It may have been made while the tables were empty, when reading all of one is as cheap as a look-up, so it has to look up.
 */
const LOOKING_UP = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
};
const setting = (settings: Readonly<Record<string, string>>): BatchStatement => {
  const calls = Object.entries(settings).map(([name, value]) => `set_config('${name}', '${value}', true)`);
  return plain(`select ${calls.join(', ')}`);
};
export const LOOK_UPS = setting(LOOKING_UP);
const RELAXED = setting({ synchronous_commit: 'off', ...LOOKING_UP });

const batchOf = ({ sql: text, parameters }: CompiledQuery): BatchStatement => ({
  text,
  values: parameters.map(bound),
});

const guardedTexts = new LRUCache<string, string>({ max: 500 });
const guardedBatchOf = ({ query, expectChanges }: Statement): BatchStatement => {
  const batch = batchOf(query);
  if (expectChanges === undefined) return batch;
  const key = `${expectChanges} ${batch.text}`;
  let text = guardedTexts.get(key);
  if (text === undefined) guardedTexts.set(key, (text = guarded(query, expectChanges)));
  return { ...batch, text };
};

/** A guarded statement passed, so its changes are what was expected; the server counts it as a select. */
const resultOf = ({ query, expectChanges }: Statement, result: BatchResult): StatementResult =>
  expectChanges === undefined
    ? result
    : { changes: expectChanges, rows: changing(query).returning ? result.rows : [] };

/**
 * A PostgreSQL server, 15 or later. Transactions are READ COMMITTED: a writer next to others says in its statements which
 * rows or names it locks. Those that cross all the same are repeated here, since no decision lies between two statements.
 */
export class PostgresDatabase implements SqlDatabase {
  readonly dialect = 'postgres';
  readonly builder = BUILDER;
  readonly #pool: ConnectionPool;
  #asking: Promise<void> | undefined;
  readonly #underWay = new Set<Promise<unknown>>();
  readonly #watch: SqlWatch | undefined;
  #closed = false;

  private constructor(pool: ConnectionPool, watch: SqlWatch | undefined) {
    this.#pool = pool;
    this.#watch = watch;
  }

  /** @throws StoreUnavailableError when the server is away @throws Error when it is too old */
  static async open({ watch, ...options }: PostgresOptions): Promise<PostgresDatabase> {
    const pool = new ConnectionPool(options);
    try {
      const [result] = await pool.run([plain('show server_version_num')]);
      const version = Number(result!.rows[0]!['server_version_num']);
      if (version >= OLDEST_VERSION) return new PostgresDatabase(pool, watch);
      throw new Error(`PostgreSQL 15 or later is needed, this is ${Math.floor(version / 10_000)}`);
    } catch (error) {
      await pool.close();
      throw readError(error);
    }
  }

  async read<Row>(query: Query<Row>): Promise<readonly Row[]> {
    const [result] = await this.#reading([batchOf(query.compile())], false);
    return result!.rows as readonly Row[];
  }

  async snapshot<Rows extends readonly unknown[]>(queries: {
    readonly [Index in keyof Rows]: Query<Rows[Index]>;
  }): Promise<{ readonly [Index in keyof Rows]: readonly Rows[Index][] }> {
    const all = (queries as readonly Query<unknown>[]).map((query) => batchOf(query.compile()));
    const results = await this.#reading([SNAPSHOT, ...all, COMMIT], true);
    const tables: unknown = results.slice(1, -1).map(({ rows }) => rows);
    return tables as { readonly [Index in keyof Rows]: readonly Rows[Index][] };
  }

  async transaction(
    statements: readonly Statement[],
    { durability = 'full', lookUps = false }: TransactionOptions = {},
  ): Promise<readonly StatementResult[]> {
    if (statements.length === 0) return [];
    const startedAt = this.#watch ? performance.now() : 0;
    const before = durability === 'relaxed' ? [RELAXED] : lookUps ? [LOOK_UPS] : [];
    const batch = [...before, ...statements.map(guardedBatchOf)];
    try {
      const results = await this.#finished(this.#repeated(batch));
      this.#watch?.committed(performance.now() - startedAt);
      return statements.map((statement, index) => resultOf(statement, results[index + before.length]!));
    } catch (error) {
      const failure = writeError(error, { statements: statements.length, before: before.length });
      this.#watch?.failed('transaction', failure);
      throw failure;
    }
  }

  /** The server's time in UNIX milliseconds, asked for beside the calls now and then. */
  now(): number {
    const { clock } = this.#pool;
    if (clock.due && !this.#closed)
      this.#asking ??= this.#askTime().finally(() => (this.#asking = undefined));
    return clock.now();
  }

  async #askTime(): Promise<void> {
    const asked = this.#pool.clock.measure(async () => {
      const [result] = await this.#finished(this.#pool.run([SERVER_TIME]));
      return result!.rows[0] as unknown as { readonly now: string };
    });
    // While the server is away its time goes on by the steady clock.
    await asked.catch(() => undefined);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await Promise.allSettled(this.#underWay);
    await this.#pool.close();
  }

  async #reading(batch: readonly BatchStatement[], transaction: boolean): Promise<readonly BatchResult[]> {
    try {
      return await this.#finished(this.#repeated(batch, transaction));
    } catch (error) {
      const failure = readError(error);
      this.#watch?.failed(transaction ? 'snapshot' : 'read', failure);
      throw failure;
    }
  }

  async #repeated(batch: readonly BatchStatement[], transaction = false): Promise<readonly BatchResult[]> {
    if (this.#closed) throw new StoreUnavailableError('PostgreSQL: the database is closed');
    let anew = false;
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#pool.run(batch, { transaction, anew });
      } catch (error) {
        if (attempt === ATTEMPTS || !isWorthRepeating(error)) throw error;
        anew ||= isStale(error);
        await pause(Math.random() * attempt * PAUSE_MS);
      }
    }
  }

  /** Closing waits for it. */
  async #finished<T>(call: Promise<T>): Promise<T> {
    this.#underWay.add(call);
    try {
      return await call;
    } finally {
      this.#underWay.delete(call);
    }
  }
}
