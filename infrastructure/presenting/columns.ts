import { amount } from '../../application/support/json-amounts.ts';
import { formatCents } from '../../domain/shared/money.ts';
import type { Cents } from '../../domain/shared/money.ts';
import { csvBegins, csvText, textOf } from './csv.ts';
import type { CsvDialect } from './csv.ts';
import { inOneLine, tableText, widthsOf } from './terminal-text.ts';

export const REPORT_FORMATS = ['table', 'json', 'csv'] as const;
export type ReportFormat = (typeof REPORT_FORMATS)[number];

/** How one field of a row is named and found; the three formats are made of it. */
export interface Column<Row> {
  /** In JSON and in the first line of CSV; in a table with blanks for underscores. */
  readonly name: string;
  /** Text, a number, a list or an object; `undefined` leaves the field out of JSON. */
  readonly of: (row: Row) => unknown;
  /** The value is a number of cents. */
  readonly amount?: true;
  /** The value is a number of bytes; a table says how many MiB they are. */
  readonly bytes?: true;
  /** Where cells of a table stand. Default: amounts and numbers to the right. */
  readonly align?: 'left' | 'right';
  /** Text from outside, of which a table cuts nothing off; a time loses its milliseconds otherwise. */
  readonly verbatim?: true;
  /** False: too much for a table. */
  readonly table?: false;
  /** What CSV for Brazil says instead, where a value is a word of the interface. */
  readonly brazilian?: (row: Row) => unknown;
}

/** How a field is called outside: `fundId` is `fund_id`. */
type Outside<Field extends string> = Field extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${Outside<Rest>}`
  : '';

/** A column that is a field of the row is named like it, alone or beside what else is to be said of it. */
type Written<Row, Own = Outside<keyof Row & string>> =
  Own | (Omit<Column<Row>, 'name' | 'of'> & { readonly name: Own; readonly of?: undefined }) | Column<Row>;

export const asColumns = <Row>(written: readonly Written<Row>[]): readonly Column<Row>[] =>
  written.map((one) => {
    const column = typeof one === 'object' ? one : { name: one };
    const field = column.name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    return { ...column, of: column.of ?? ((row) => row[field as keyof Row]) };
  });

export type Rows<Row> = Iterable<Row> | AsyncIterable<Row>;

export interface Printing {
  readonly format: ReportFormat;
  readonly colour: boolean;
  /** Of CSV; default: plain. */
  readonly dialect?: CsvDialect;
  /** Rows come one by one and are wanted at once. */
  readonly follow?: boolean;
}

/** Rows from which the widths of a table are taken; a wider cell further down only moves its own line. */
const ROWS_AT_ONCE = 500;
const MILLISECONDS = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})\.\d{3}Z$/;

export const money = (cents: number): string => formatCents(cents as Cents);
export const jsonAmount = (cents: number) => amount(cents as Cents);

const MEBIBYTE = 1_048_576;
export const mebibytes = (bytes: number): string => `${(bytes / MEBIBYTE).toFixed(1)} MiB`;

export const titleOf = (name: string): string => name.replaceAll('_', ' ');

const jsonValue = <Row>({ of, amount: isAmount }: Column<Row>, row: Row): unknown => {
  const value = of(row);
  return isAmount && typeof value === 'number' ? jsonAmount(value) : value;
};

export const jsonOf = <Row>(columns: readonly Column<Row>[], row: Row): string =>
  JSON.stringify(Object.fromEntries(columns.map((column) => [column.name, jsonValue(column, row)])));

const tableCell = <Row>({ of, amount: isAmount, bytes, verbatim }: Column<Row>, row: Row): string => {
  const value = of(row);
  if (isAmount && typeof value === 'number') return money(value);
  if (bytes && typeof value === 'number') return `${value} (${mebibytes(value)})`;
  const text = textOf(value);
  return inOneLine(verbatim ? text : text.replace(MILLISECONDS, '$1Z'));
};

const isNumber = (value: unknown): boolean => typeof value === 'number' || JSON.isRawJSON(value);

const standsRight = <Row>({ of, amount: isAmount, align }: Column<Row>, rows: readonly Row[]): boolean =>
  align === undefined ? isAmount === true || rows.some((row) => isNumber(of(row))) : align === 'right';

/** Text of the rows that it is given; the first of a table decides widths and alignment, and the first text has the header. */
type RowText<Row> = (rows: readonly Row[]) => string;

const asTable = <Row>(all: readonly Column<Row>[], colour: boolean): RowText<Row> => {
  const columns = all.filter(({ table }) => table !== false);
  const header = columns.map(({ name }) => titleOf(name));
  let layout: { readonly widths: readonly number[]; readonly right: readonly number[] } | undefined;
  return (part) => {
    const rows = part.map((row) => columns.map((column) => tableCell(column, row)));
    if (layout) return tableText({ header, rows, colour, ...layout });
    const right = columns.flatMap((column, i) => (standsRight(column, part) ? [i] : []));
    layout = { widths: widthsOf({ header, rows }), right };
    return tableText({ header, rows, colour, right });
  };
};

const asCsv = <Row>(all: readonly Column<Row>[], dialect: CsvDialect = 'plain'): RowText<Row> => {
  const columns =
    dialect === 'brazilian' ? all.map((column) => ({ ...column, of: column.brazilian ?? column.of })) : all;
  let header: readonly (readonly string[])[] = [columns.map(({ name }) => name)];
  return (part) => {
    const rows = part.map((row) => columns.map((column) => jsonValue(column, row)));
    const text = `${header.length > 0 ? csvBegins(dialect) : ''}${csvText([...header, ...rows], dialect)}`;
    header = [];
    return text;
  };
};

const rowText = <Row>(
  columns: readonly Column<Row>[],
  { format, colour, dialect }: Printing,
): RowText<Row> => {
  switch (format) {
    case 'table':
      return asTable(columns, colour);
    case 'csv':
      return asCsv(columns, dialect);
    case 'json':
      return (rows) => rows.map((row) => `${jsonOf(columns, row)}\n`).join('');
  }
};

async function* inParts<T>(items: Rows<T>, size: number): AsyncGenerator<readonly T[]> {
  let part: T[] = [];
  for await (const item of items) {
    part.push(item);
    if (part.length < size) continue;
    yield part;
    part = [];
  }
  if (part.length > 0) yield part;
}

export async function* printedRows<Row>(
  columns: readonly Column<Row>[],
  rows: Rows<Row>,
  printing: Printing,
): AsyncGenerator<string> {
  const { format, follow = false } = printing;
  const text = rowText(columns, printing);
  if (format === 'csv') yield text([]);
  let isEmpty = true;
  for await (const part of inParts(rows, follow || format === 'json' ? 1 : ROWS_AT_ONCE)) {
    isEmpty = false;
    yield text(part);
  }
  if (isEmpty && format === 'table') yield text([]);
}

/** Rows that come one by one, each a text of its own; the first of CSV and of a table brings the header. */
export const lineByLine = <Row>(
  columns: readonly Column<Row>[],
  printing: Printing,
): ((row: Row) => string) => {
  const text = rowText(columns, printing);
  return (row) => text([row]);
};

export const tableOf = <Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string =>
  asTable(columns, false)(rows);
