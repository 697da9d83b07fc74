export type DifferenceKind =
  | 'log'
  | 'chain'
  | 'event'
  | 'decision'
  | 'price'
  | 'claim'
  | 'renegotiation'
  | 'read_model'
  | 'delivery'
  | 'seal'
  | 'document'
  | 'anchor';

export interface Difference {
  readonly kind: DifferenceKind;
  readonly stream: string;
  /** Of the event that it is about; null where it is about none. */
  readonly revision: number | null;
  readonly what: string;
  readonly expected: string;
  readonly found: string;
}

export type Report = (difference: Difference) => void;

export const collecting = () => {
  const differences: Difference[] = [];
  return { differences, report: (difference: Difference): void => void differences.push(difference) };
};

const LONGEST = 200;
/** Fields that hold a borrower, a file's name or a remark: sealed text says nothing to a reader, and plain text is not for this report. */
const isPrivate = (path: string): boolean => {
  const parts = path.split('.');
  if (parts.includes('borrower') || parts.includes('reason_detail')) return true;
  const documents = parts.indexOf('documents');
  const field = parts[documents + 2];
  return documents >= 0 && (field === undefined || field === 'value');
};

export const shown = (what: string, value: unknown): string => {
  if (value === undefined) return '(nothing)';
  if (isPrivate(what)) {
    const { length } = typeof value === 'string' ? value : JSON.stringify(value);
    return length === 0 ? '(no text)' : `(private text of ${length} characters)`;
  }
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}...` : text;
};

interface FieldDifference {
  readonly path: string;
  readonly expected: unknown;
  readonly found: unknown;
}

export type Tell = (what: string, expected: string, found: string) => void;

export const telling =
  (
    report: Report,
    kind: DifferenceKind,
    { stream, revision }: { readonly stream: string; readonly revision: bigint | number | null },
  ): Tell =>
  (what, expected, found) =>
    report({ kind, stream, revision: revision === null ? null : Number(revision), what, expected, found });

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

/** Where two JSON values differ, whatever the order of their fields. Nothing when they are equal. */
export const fieldDifferences = (
  expected: unknown,
  found: unknown,
  path = '',
): readonly FieldDifference[] => {
  if (Object.is(expected, found)) return [];
  if (!isObject(expected) || !isObject(found) || Array.isArray(expected) !== Array.isArray(found))
    return [{ path, expected, found }];
  const names = new Set([...Object.keys(expected), ...Object.keys(found)]);
  return [...names].flatMap((name) =>
    fieldDifferences(expected[name], found[name], path === '' ? name : `${path}.${name}`),
  );
};

/** Field by field, since older versions may have written them in another order. */
export const tellFields = (tell: Tell, wanted: unknown, is: unknown): void => {
  for (const { path, expected, found } of fieldDifferences(wanted, is))
    tell(path, shown(path, expected), shown(path, found));
};

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
