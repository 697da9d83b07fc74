type ComparedRow = Readonly<Record<string, unknown>>;

interface DifferingRow<Row extends ComparedRow> {
  readonly expected: Row | undefined;
  readonly found: Row | undefined;
  readonly columns: readonly string[];
}

const NONE: readonly string[] = [];

const differingColumns = (expected: ComparedRow, found: ComparedRow): readonly string[] => {
  let columns: string[] | undefined;
  for (const column in found) if (found[column] !== expected[column]) (columns ??= []).push(column);
  for (const column in expected) if (!(column in found)) (columns ??= []).push(column);
  return columns ?? NONE;
};

export function* differingRows<Row extends ComparedRow>(
  nameOf: (row: Row) => string,
  expected: readonly Row[],
  found: readonly Row[],
): Generator<DifferingRow<Row>, void, undefined> {
  const missing = new Map(expected.map((row) => [nameOf(row), row]));
  for (const row of found) {
    const name = nameOf(row);
    const wanted = missing.get(name);
    missing.delete(name);
    const columns = wanted ? differingColumns(wanted, row) : NONE;
    if (!wanted || columns.length > 0) yield { expected: wanted, found: row, columns };
  }
  for (const row of missing.values()) yield { expected: row, found: undefined, columns: NONE };
}
