import type { Row } from '../../projections/engine/projection.ts';
import type { Rows } from './derived-rows.ts';
import { shown } from './difference.ts';
import type { Report } from './difference.ts';

/** What tells the rows of one operation apart; a payment's date is a value of it, which may be wrong. */
const nameOf = (key: readonly string[], row: Row): string =>
  key.reduce(
    (name, column) => (column === 'stream' || column === 'date' ? name : `${name} ${row[column]}`),
    '',
  );

/** As a field of an event would be called, which says whether its value may be shown. */
const pathOf = (table: string, column: string): string =>
  table === 'document' ? `documents.0.${column}` : column;

const compareColumns = (expected: Row, found: Row, report: (column: string) => void): void => {
  for (const column in found) if (found[column] !== expected[column]) report(column);
  for (const column in expected) if (!(column in found)) report(column);
};

/** Reports rows that are missing, differ, or should not be there. */
export const compareTable = (
  stream: string,
  { table, key: columns }: { readonly table: string; readonly key: readonly string[] },
  { expected, found, report }: { expected: Rows; found: readonly Row[]; report: Report },
): void => {
  const rows = new Map((expected.get(table) ?? []).map((row) => [nameOf(columns, row), row]));
  const place = { kind: 'read_model', stream } as const;
  const named = (key: string): string => `${table}${key}`;
  for (const row of found) {
    const key = nameOf(columns, row);
    const wanted = rows.get(key);
    const revision = typeof row['revision'] === 'number' ? row['revision'] : null;
    if (!wanted) {
      report({ ...place, revision, what: named(key), expected: '(no row)', found: 'a row' });
      continue;
    }
    rows.delete(key);
    compareColumns(wanted, row, (column) => {
      const values = {
        expected: shown(pathOf(table, column), wanted[column]),
        found: shown(pathOf(table, column), row[column]),
      };
      report({ ...place, revision, what: `${named(key)}: ${column}`, ...values });
    });
  }
  for (const key of rows.keys())
    report({ ...place, revision: null, what: named(key), expected: 'a row', found: '(no row)' });
};
