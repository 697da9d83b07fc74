import { stringify } from 'csv-stringify/sync';
import { amount } from '../../application/publishing/amount.ts';
import { formatCents } from '../../domain/shared/money.ts';
import type { Cents } from '../../domain/shared/money.ts';
import { inOneLine } from './terminal-text.ts';

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
  /** Too much for a table. */
  readonly table?: false;
}

export type Rows<Row> = Iterable<Row> | AsyncIterable<Row>;

export interface Printing {
  readonly format: ReportFormat;
  /** Whether a table may be coloured. */
  readonly colour: boolean;
  /** Rows come one by one and are wanted at once. */
  readonly follow?: boolean;
}

/** Rows from which the widths of a table are taken; a wider cell further down only moves its own line. */
const ROWS_AT_ONCE = 500;
/** A spreadsheet takes text that begins so for a formula. */
const FORMULA = /^[=+\-@\t\r]/;
const MILLISECONDS = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})\.\d{3}Z$/;

export const money = (cents: number): string => formatCents(cents as Cents);

/** Text that others chose, made harmless for spreadsheets. */
export const harmless = (text: string): string => (FORMULA.test(text) ? `'${text}` : text);

const textOf = (value: unknown): string => {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value;
  if (Array.isArray(value) && value.every((one) => typeof one !== 'object')) return value.join(', ');
  return JSON.stringify(value);
};

const jsonValue = <Row>(column: Column<Row>, row: Row): unknown => {
  const value = column.of(row);
  return column.amount && typeof value === 'number' ? amount(value as Cents) : value;
};

/** One row as a JSON object. */
export const jsonOf = <Row>(columns: readonly Column<Row>[], row: Row): string =>
  JSON.stringify(Object.fromEntries(columns.map((column) => [column.name, jsonValue(column, row)])));

const csvCell = <Row>({ of, amount: isAmount }: Column<Row>, row: Row): string | number => {
  const value = of(row);
  if (typeof value === 'number') return isAmount ? money(value) : value;
  if (JSON.isRawJSON(value)) return value.rawJSON;
  return harmless(textOf(value));
};

const tableCell = <Row>({ of, amount: isAmount }: Column<Row>, row: Row): string => {
  const value = of(row);
  if (isAmount && typeof value === 'number') return money(value);
  return inOneLine(textOf(value).replace(MILLISECONDS, '$1Z'));
};

const isNumber = (value: unknown): boolean => typeof value === 'number' || JSON.isRawJSON(value);

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

/** Good news, what waits, and what went wrong; anything else stays as it is. */
const COLOURS: Readonly<Record<string, number>> = {
  ...Object.fromEntries(
    ['active', 'ok', 'delivered', 'serving', 'settled', 'running'].map((name) => [name, 32]),
  ),
  ...Object.fromEntries(
    [
      'received',
      'approved',
      'term_signed',
      'repurchase_pending',
      'pending',
      'paused',
      'warning',
      'retrying',
    ].map((name) => [name, 33]),
  ),
  ...Object.fromEntries(['failed', 'rejected', 'halted', 'failing'].map((name) => [name, 31])),
};
const BOLD = 1;
const styled = (text: string, code: number | undefined): string =>
  code === undefined ? text : `\u001b[${code}m${text}\u001b[0m`;

export interface TableCells {
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Columns whose cells stand to the right. */
  readonly right: readonly number[];
  readonly colour?: boolean;
  /** Widths of an earlier part of the same table: then there is no header. */
  readonly widths?: readonly number[];
}

export const widthsOf = ({ header, rows }: Pick<TableCells, 'header' | 'rows'>): readonly number[] =>
  header.map((title, i) => rows.reduce((most, row) => Math.max(most, row[i]!.length), title.length));

/** Columns as wide as their widest cell; cells must not hold what moves a cursor. @see inOneLine */
export const tableText = ({ header, rows, right, colour = false, widths }: TableCells): string => {
  const wide = widths ?? widthsOf({ header, rows });
  const printed = (row: readonly string[], codeOf: (cell: string) => number | undefined): string =>
    row
      .map((cell, i) => {
        const gap = ' '.repeat(Math.max(0, wide[i]! - cell.length));
        const text = colour ? styled(cell, codeOf(cell)) : cell;
        if (right.includes(i)) return gap + text;
        return i === row.length - 1 ? text : text + gap;
      })
      .join('  ')
      .trimEnd();
  const head = widths ? [] : [printed(header, () => BOLD), wide.map((width) => '-'.repeat(width)).join('  ')];
  const body = rows.map((row) =>
    printed(row, (cell) => (Object.hasOwn(COLOURS, cell) ? COLOURS[cell] : undefined)),
  );
  return [...head, ...body].map((line) => `${line}\n`).join('');
};

async function* tableOf<Row>(
  all: readonly Column<Row>[],
  rows: Rows<Row>,
  { colour, follow = false }: Printing,
): AsyncGenerator<string> {
  const columns = all.filter(({ table }) => table !== false);
  const header = columns.map(({ name }) => name.replaceAll('_', ' '));
  let widths: readonly number[] | undefined;
  let right: readonly number[] = [];
  for await (const part of inParts(rows, follow ? 1 : ROWS_AT_ONCE)) {
    const cells = part.map((row) => columns.map((column) => tableCell(column, row)));
    if (widths === undefined)
      right = columns.flatMap((column, i) =>
        column.amount || part.some((row) => isNumber(column.of(row))) ? [i] : [],
      );
    yield tableText({ header, rows: cells, right, colour, ...(widths && { widths }) });
    widths ??= widthsOf({ header, rows: cells });
  }
  if (widths === undefined) yield tableText({ header, rows: [], right, colour });
}

async function* csvOf<Row>(
  columns: readonly Column<Row>[],
  rows: Rows<Row>,
  follow: boolean,
): AsyncGenerator<string> {
  yield stringify([columns.map(({ name }) => name)]);
  for await (const part of inParts(rows, follow ? 1 : ROWS_AT_ONCE))
    yield stringify(part.map((row) => columns.map((column) => csvCell(column, row))));
}

async function* jsonLines<Row>(columns: readonly Column<Row>[], rows: Rows<Row>): AsyncGenerator<string> {
  for await (const row of rows) yield `${jsonOf(columns, row)}\n`;
}

/** Rows as text, in pieces: a table, CSV, or one JSON object a line. */
export const printedRows = <Row>(
  columns: readonly Column<Row>[],
  rows: Rows<Row>,
  printing: Printing,
): AsyncGenerator<string> => {
  switch (printing.format) {
    case 'table':
      return tableOf(columns, rows, printing);
    case 'csv':
      return csvOf(columns, rows, printing.follow ?? false);
    case 'json':
      return jsonLines(columns, rows);
  }
};

/** Rows that come one by one, each a text of its own; the first of CSV and of a table brings the header. */
export const lineByLine = <Row>(
  columns: readonly Column<Row>[],
  { format, colour }: Omit<Printing, 'follow'>,
): ((row: Row) => string) => {
  let widths: readonly number[] | undefined;
  const shown = columns.filter(({ table }) => table !== false);
  const header = shown.map(({ name }) => name.replaceAll('_', ' '));
  return (row) => {
    if (format === 'json') return `${jsonOf(columns, row)}\n`;
    const first = widths === undefined;
    if (format === 'csv') {
      widths = [];
      const cells = columns.map((column) => csvCell(column, row));
      return stringify(first ? [columns.map(({ name }) => name), cells] : [cells]);
    }
    const rows = [shown.map((column) => tableCell(column, row))];
    const text = tableText({ header, rows, right: [], colour, ...(widths && { widths }) });
    widths ??= widthsOf({ header, rows });
    return text;
  };
};
