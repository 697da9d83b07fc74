import type { CompiledQuery } from 'kysely';
import type { Bindable } from '../sqlite/connection.ts';
import { NO_GUARD } from '../sqlite/units.ts';
import type { FlatResults, FlatUnit } from '../sqlite/units.ts';
import type { Statement, StatementResult } from './sql-database.ts';

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

export const flattenQueries = (queries: readonly CompiledQuery[]): FlatUnit =>
  flatten(queries.map((query) => ({ query })));

type Row = Readonly<Record<string, unknown>>;

export const rowsOf = (columns: readonly string[], values: readonly unknown[]): readonly Row[] => {
  const rows: Row[] = [];
  for (let at = 0; at < values.length; at += columns.length) {
    const row: Record<string, unknown> = {};
    for (let i = 0; i < columns.length; i++) row[columns[i]!] = values[at + i];
    rows.push(row);
  }
  return rows;
};

const NO_ROWS: readonly Row[] = [];

export const unflatten = (results: FlatResults): readonly StatementResult[] => {
  const rows = new Map(results.tables.map((table) => [table.statement, rowsOf(table.columns, table.values)]));
  return results.changes.map((changes, index) => ({ changes, rows: rows.get(index) ?? NO_ROWS }));
};
