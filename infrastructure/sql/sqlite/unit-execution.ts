import { whileBusy } from './connection.ts';
import type { Connection } from './connection.ts';
import { failureOf } from './sqlite-errors.ts';
import { NO_GUARD } from './messages.ts';
import type { Failure, FlatResults, FlatTable, FlatUnit } from './messages.ts';

type Outcome = FlatResults | Failure;

class Guard extends Error {
  readonly failure: Failure;
  constructor(index: number, changes: number) {
    super('guard');
    this.failure = { kind: 'guard', index, changes };
  }
}

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
    if (expected !== NO_GUARD && expected !== result.changes) throw new Guard(statement, result.changes);
    if (result.values.length > 0) tables.push({ statement, columns: result.columns, values: result.values });
  }
  return { changes, tables };
};

const inSavepoint = (connection: Connection, unit: FlatUnit): Outcome => {
  connection.execute('savepoint unit');
  try {
    const results = execute(connection, unit);
    connection.execute('release unit');
    return results;
  } catch (error) {
    // A full disk or a failing one ends the whole transaction by itself; there is nothing left to roll back to then.
    if (connection.inTransaction) {
      connection.execute('rollback to unit');
      connection.execute('release unit');
    }
    return error instanceof Guard ? error.failure : failureOf(error);
  }
};

const all = (units: readonly FlatUnit[], failure: Failure): readonly Outcome[] => units.map(() => failure);

/**
 * Many units, one physical transaction, one wait for the disk. Each unit stands or falls alone.
 * @throws the error of COMMIT: what is on disk is unknown then, and this connection must not go on
 */
export const writeGroup = (connection: Connection, units: readonly FlatUnit[]): readonly Outcome[] => {
  const outcomes: Outcome[] = [];
  try {
    connection.execute('begin immediate');
  } catch (error) {
    return all(units, failureOf(error));
  }
  for (const unit of units) {
    const outcome = inSavepoint(connection, unit);
    if (!connection.inTransaction) return all(units, outcome as Failure);
    outcomes.push(outcome);
  }
  connection.execute('commit');
  return outcomes;
};

/** Many units, one snapshot, taken after all of them were asked. */
export const readGroup = (
  connection: Connection,
  units: readonly FlatUnit[],
  busyTimeoutMs: number,
): readonly Outcome[] => {
  connection.execute('begin');
  try {
    return units.map((unit) => {
      try {
        return whileBusy(() => execute(connection, unit), busyTimeoutMs);
      } catch (error) {
        return failureOf(error);
      }
    });
  } finally {
    if (connection.inTransaction) connection.execute('commit');
  }
};
