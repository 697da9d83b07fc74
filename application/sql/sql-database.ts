import type { CompiledQuery, Kysely } from 'kysely';
import type { SqlDialect } from './migrations/migration.ts';
import type { Schema } from './schema.ts';

export type { SqlDialect };

export interface Query<Row> {
  compile(): CompiledQuery<Row>;
}

export interface StatementResult {
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  /** Rows that the statement inserted, updated or deleted. */
  readonly changes: number;
}

/** A statement of a transaction. With `expectChanges`, another count rolls the whole transaction back (fencing, compare-and-set). */
export interface Statement {
  readonly query: CompiledQuery;
  readonly expectChanges?: number;
}

export interface TransactionOptions {
  /**
   * `full` (default): on the disk when it resolves. `relaxed`: a power cut may take back the last seconds of relaxed transactions,
   * newest first and never one without those after it; a crash of the process takes nothing. Only for what repeats some work if it is lost.
   */
  readonly durability?: 'full' | 'relaxed';
  /** Its statements find few rows, by their keys; an engine that plans may then plan once, and only so. Relaxed ones are taken to. */
  readonly lookUps?: boolean;
  /** Only into the tables of that `generation`; a GuardFailedError where others serve by now. */
  readonly generation?: number | undefined;
}

/** A statement's `expectChanges` did not hold: nothing of its transaction was stored. */
export class GuardFailedError extends Error {
  override readonly name = 'GuardFailedError';
  readonly index: number;
  readonly changes: number;
  constructor(index: number, changes: number) {
    super(`statement ${index} changed ${changes} rows`);
    this.index = index;
    this.changes = changes;
  }
}

/** A unique or foreign key was violated: nothing of its transaction was stored. */
export class ConstraintError extends Error {
  override readonly name = 'ConstraintError';
}

/**
 * One SQL store behind typed queries. `builder` only builds (`.compile()`); statements travel together: one round trip, one
 * transaction, durable when it resolves unless told otherwise. Amounts, counts and sums are integers, booleans 0 and 1, instants ISO text, so that every engine agrees.
 */
export interface SqlDatabase {
  readonly dialect: SqlDialect;
  readonly builder: Kysely<Schema>;
  /** Of the tables behind it now, where others may succeed them. */
  readonly generation?: number;
  /** Reads in one snapshot, outside any transaction of ours, that holds all that was committed before the call. */
  read<Row>(query: Query<Row>): Promise<readonly Row[]>;
  /** Several reads in one snapshot and one round trip, answered in their order. */
  snapshot<Rows extends readonly unknown[]>(queries: {
    readonly [Index in keyof Rows]: Query<Rows[Index]>;
  }): Promise<{ readonly [Index in keyof Rows]: readonly Rows[Index][] }>;
  /**
   * All statements or none.
   * @throws GuardFailedError @throws ConstraintError
   * @throws StoreUnavailableError certainly nothing was stored
   * @throws OutcomeUnknownError the engine was lost on the way: all was stored, or nothing
   */
  transaction(
    statements: readonly Statement[],
    options?: TransactionOptions,
  ): Promise<readonly StatementResult[]>;
  /** Finishes what was called before, then lets go of the store. */
  close(): Promise<void>;
}
