import { DamagedStoreError, StoreUnavailableError } from '../../application/ports/event-store.ts';
import { messageOf } from '../../application/support/failures.ts';
import { ConstraintError, GuardFailedError } from '../../application/sql/sql-database.ts';
import type { StatementResult } from '../../application/sql/sql-database.ts';
import {
  SQLITE_CONSTRAINT,
  isCertainlyNotStored,
  isDamaged,
  isUnavailable,
  sqliteCode,
  unusable,
  whileBusy,
} from './connection.ts';
import type { Bindable, Connection } from './connection.ts';

/**
 * Statements as they travel to the thread that runs them. Flat lists of primitives cross a thread boundary several times faster than
 * one object a statement, and equal SQL texts travel once.
 */
export interface FlatUnit {
  /** Distinct SQL texts. */
  readonly texts: readonly string[];
  /** Three numbers a statement: index into `texts`, how many parameters, changes expected (`NO_GUARD` when any will do). */
  readonly calls: readonly number[];
  /** All parameters, one statement's after the other's. */
  readonly parameters: readonly Bindable[];
  /** Need not be on the disk when it is answered. */
  readonly relaxed?: boolean;
}
export const NO_GUARD = -1;

interface FlatTable {
  /** Index of the statement that answered these rows. */
  readonly statement: number;
  readonly columns: readonly string[];
  /** Row after row, each as long as `columns`. */
  readonly values: readonly unknown[];
}
interface FlatResults {
  readonly changes: readonly number[];
  readonly tables: readonly FlatTable[];
}

type Failure =
  | { readonly kind: 'guard'; readonly index: number; readonly changes: number }
  /** `unavailable`: locked, full or unreadable, and certainly nothing was stored; `damaged`: so is the file, for good. */
  | { readonly kind: 'constraint' | 'unavailable' | 'damaged' | 'error'; readonly message: string };

export type Outcome = FlatResults | Failure;

const hasFailed = (outcome: Outcome): outcome is Failure => 'kind' in outcome;

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

/** @throws the error that a failure stands for */
export const resultsOf = (results: Outcome): readonly StatementResult[] => {
  if (hasFailed(results)) throw errorOf(results);
  const rows = new Map(results.tables.map((table) => [table.statement, rowsOf(table.columns, table.values)]));
  return results.changes.map((changes, index) => ({ changes, rows: rows.get(index) ?? NO_ROWS }));
};

const failureOf = ({ settings: { path } }: Connection, error: unknown): Failure => {
  const message = messageOf(error);
  if (sqliteCode(error) === SQLITE_CONSTRAINT) return { kind: 'constraint', message };
  if (!isUnavailable(error)) return { kind: 'error', message };
  return { kind: isDamaged(error) ? 'damaged' : 'unavailable', message: unusable(path, error).message };
};

const execute = (connection: Connection, unit: FlatUnit): FlatResults => {
  const changes: number[] = [];
  const tables: FlatTable[] = [];
  let parameter = 0;
  for (let at = 0; at < unit.calls.length; at += 3) {
    const count = unit.calls[at + 1]!;
    const parameters = unit.parameters.slice(parameter, (parameter += count));
    const result = connection.execute(unit.texts[unit.calls[at]!]!, parameters);
    const statement = changes.push(result.changes) - 1;
    const expected = unit.calls[at + 2]!;
    if (expected !== NO_GUARD && expected !== result.changes)
      throw new GuardFailedError(statement, result.changes);
    if (result.values.length > 0) tables.push({ statement, columns: result.columns, values: result.values });
  }
  return { changes, tables };
};

const attempt = (connection: Connection, unit: FlatUnit): Outcome => {
  try {
    return execute(connection, unit);
  } catch (error) {
    if (!(error instanceof GuardFailedError)) return failureOf(connection, error);
    return { kind: 'guard', index: error.index, changes: error.changes };
  }
};

const inSavepoint = (connection: Connection, unit: FlatUnit): Outcome => {
  connection.execute('savepoint unit');
  const outcome = attempt(connection, unit);
  // A full disk or a failing one ends the whole transaction by itself; there is nothing left to roll back to then.
  if (!connection.inTransaction) return outcome;
  if (hasFailed(outcome)) connection.execute('rollback to unit');
  connection.execute('release unit');
  return outcome;
};

const all = (units: readonly FlatUnit[], failure: Failure): readonly Outcome[] => units.map(() => failure);

const begin = (connection: Connection): Failure | undefined => {
  try {
    connection.execute('begin immediate');
    return undefined;
  } catch (error) {
    return failureOf(connection, error);
  }
};

/**
 * What was to be committed, or the failure that kept all of it from being stored.
 * @throws the error of COMMIT where it is unknown what is on disk
 */
const commit = (connection: Connection, outcomes: readonly Outcome[]): readonly Outcome[] => {
  try {
    connection.execute('commit');
    return outcomes;
  } catch (error) {
    if (!isCertainlyNotStored(error)) throw unusable(connection.settings.path, error);
    if (connection.inTransaction) connection.execute('rollback');
    return outcomes.map(() => failureOf(connection, error));
  }
};

/** Undefined when one of several failed: nothing is stored then, and each has to be tried by itself. */
const together = (connection: Connection, units: readonly FlatUnit[]): readonly Outcome[] | undefined => {
  const refused = begin(connection);
  if (refused) return all(units, refused);
  const outcomes: Outcome[] = [];
  for (const unit of units) {
    const outcome = attempt(connection, unit);
    outcomes.push(outcome);
    if (!hasFailed(outcome)) continue;
    if (connection.inTransaction) connection.execute('rollback');
    return units.length === 1 ? outcomes : undefined;
  }
  return commit(connection, outcomes);
};

const apart = (connection: Connection, units: readonly FlatUnit[]): readonly Outcome[] => {
  const refused = begin(connection);
  if (refused) return all(units, refused);
  const outcomes: Outcome[] = [];
  for (const unit of units) {
    const outcome = inSavepoint(connection, unit);
    if (!connection.inTransaction) return all(units, outcome as Failure);
    outcomes.push(outcome);
  }
  return commit(connection, outcomes);
};

/**
 * Many units, one physical transaction, one wait for the disk at most. Each unit is stored or refused by itself: they share the
 * transaction plainly until one of them fails, because a savepoint copies every page before its first change.
 * @throws the error of COMMIT: what is on disk is unknown then, and this connection must not go on
 */
export const writeGroup = (connection: Connection, units: readonly FlatUnit[]): readonly Outcome[] => {
  connection.waitForDisk(units.some(({ relaxed }) => !relaxed));
  return together(connection, units) ?? apart(connection, units);
};

/** What was read is read: where even the end of a reading fails, as in a damaged file, the reading has said so already. */
const endReading = (connection: Connection): void => {
  if (!connection.inTransaction) return;
  try {
    connection.execute('commit');
  } catch {
    if (connection.inTransaction) connection.execute('rollback');
  }
};

/** One snapshot of everything that was committed before. */
export const readUnit = (connection: Connection, unit: FlatUnit): Outcome => {
  const single = unit.calls.length === 3;
  try {
    if (!single) connection.execute('begin');
    return whileBusy(() => execute(connection, unit), connection.settings.busyTimeoutMs);
  } catch (error) {
    return failureOf(connection, error);
  } finally {
    endReading(connection);
  }
};

/** How long a relaxed transaction may stay off the disk. */
const FLUSH_AFTER_MS = 1_000;

/** Writes groups of units, and sees to it that what need not wait for the disk gets there soon all the same. */
export class UnitWriter {
  readonly #connection: Connection;
  #flushing: NodeJS.Timeout | undefined;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** @throws the error of COMMIT: what is on disk is unknown then, and this connection must not go on */
  carryOut(units: readonly FlatUnit[]): readonly Outcome[] {
    return writeGroup(this.#connection, units);
  }

  afterwards(): void {
    if (this.#flushing || !this.#connection.unflushed) return;
    this.#flushing = setTimeout(() => {
      this.#flushing = undefined;
      this.#connection.flush();
      this.afterwards();
    }, FLUSH_AFTER_MS);
  }

  close(): void {
    clearTimeout(this.#flushing);
    this.#connection.close();
  }
}
