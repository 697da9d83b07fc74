import { parse } from 'csv-parse/sync';
import { DATE_FORMATS, DELIMITERS } from '../../application/reconciliation/statements.ts';
import type {
  StatementFormat,
  StatementLayout,
  StatementPreview,
} from '../../application/reconciliation/statements.ts';
import { amountReader, dateReader, isUtf16, lineEndsIn } from './csv-columns.ts';

const LOOKED_AT_BYTES = 65_536;
const LOOKED_AT_RECORDS = 40;
/** More than any program writes; what has more was never a table. */
const MOST_COLUMNS = 200;
const AMOUNT_TITLE = /valor|amount|montante|cr[eé]dito|value/i;
const REFERENCE_TITLE = /refer|documento|doc\b|identif|contrato|opera|c[oó]digo/i;
const REMARK_TITLE = /hist[oó]rico|memo|descri/i;
const WITH_CENTS = /[.,]\d{2}\s*[CD)-]?$/i;

const encodingOf = (bytes: Uint8Array): StatementFormat['encoding'] => {
  if (isUtf16(bytes, 1)) return 'utf16le';
  try {
    // A character that is cut off at the end is no mistake of the file.
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
    return 'utf8';
  } catch {
    return 'latin1';
  }
};

interface Read {
  readonly record: readonly string[];
  /** Line on which it ends. */
  readonly line: number;
}

/** Whatever can be read of the beginning. */
const beginning = (
  bytes: Uint8Array,
  { encoding, delimiter, skipLines }: StatementLayout,
): readonly Read[] => {
  try {
    const looked = Buffer.from(bytes.subarray(0, LOOKED_AT_BYTES));
    const read = parse(looked, {
      ...{ bom: true, delimiter, encoding, from_line: skipLines + 1, to: LOOKED_AT_RECORDS, info: true },
      ...{ relax_column_count: true, relax_quotes: true, skip_empty_lines: true },
      ...{ skip_records_with_error: true, record_delimiter: lineEndsIn(looked, encoding) },
    }) as unknown as readonly { readonly record: string[]; readonly info: { readonly lines: number } }[];
    return read.map(({ record, info }) => ({
      record: record.slice(0, MOST_COLUMNS).map((cell) => cell.trim()),
      line: info.lines,
    }));
  } catch {
    return [];
  }
};

/** The width that most records have, and how many have it. */
const usualWidth = (read: readonly Read[]): { readonly width: number; readonly records: number } => {
  const widths = Map.groupBy(read, ({ record }) => record.length);
  const [usual] = [...widths].toSorted(([, one], [, other]) => other.length - one.length);
  return { width: usual?.[0] ?? 0, records: usual?.[1].length ?? 0 };
};

const isDate = (text: string): boolean =>
  DATE_FORMATS.some((format) => dateReader(format)(text) !== undefined);

const isMovement = ({ record }: Read): boolean =>
  record.some(isDate) && record.some((cell) => !isDate(cell) && WITH_CENTS.test(cell));

/**
 * The line of titles right above the first movement, or that movement; -1 where there is none. Programs fill the lines of an address or a
 * period up with delimiters, so that they are as wide as the table.
 */
const tableStart = (read: readonly Read[], width: number): number => {
  const movement = read.findIndex((one) => one.record.length === width && isMovement(one));
  const above = read[movement - 1];
  const titled = (cell: string, i: number): boolean =>
    !(isDate(cell) || WITH_CENTS.test(cell)) || (above?.record[i] ?? '') !== '';
  const isTitles =
    above?.record.length === width && !above.record.some(isDate) && read[movement]!.record.every(titled);
  return isTitles ? movement - 1 : movement;
};

/** Encoding, delimiter, and the lines before the table. */
const layoutOf = (bytes: Uint8Array): StatementLayout => {
  const encoding = encodingOf(bytes.subarray(0, LOOKED_AT_BYTES));
  const tried = DELIMITERS.map((delimiter) => {
    const read = beginning(bytes, { encoding, delimiter, skipLines: 0 });
    const { width, records } = usualWidth(read);
    const first = read.findIndex(({ record }) => record.length === width);
    const begins = Math.max(first, tableStart(read, width));
    const skipLines = width > 1 && begins > 0 ? read[begins]!.line - 1 : 0;
    return { delimiter, skipLines, score: width > 1 ? records * 100 + width : 0 };
  });
  const [best] = tried.toSorted((one, other) => other.score - one.score);
  const { delimiter, skipLines } = best!;
  return { encoding, delimiter, skipLines };
};

type Cells = readonly string[];

const howMany = (cells: Cells, reads: (text: string) => unknown): number =>
  cells.filter((cell) => cell !== '' && reads(cell) !== undefined).length;

/** The index of the highest; -1 where none is above nothing. */
const highest = (scores: readonly number[]): number => {
  const most = Math.max(0, ...scores);
  return most === 0 ? -1 : scores.indexOf(most);
};

const dateFormatOf = (cells: Cells): string => {
  const scores = DATE_FORMATS.map((format) => howMany(cells, dateReader(format)));
  return DATE_FORMATS[highest(scores)] ?? DATE_FORMATS[0];
};

/** What stands in the columns: which of them are dates, amounts and references, and how they are written. */
const columnsOf = (records: readonly (readonly string[])[]) => {
  const [titles = [], ...others] = records;
  const header = !titles.some(isDate);
  const body = header ? others : records;
  const columns = titles.map((_, i) => body.map((record) => record[i] ?? ''));
  const named = (i: number, wanted: RegExp): number => (header && wanted.test(titles[i]!) ? 1 : 0);
  const dates = columns.map((cells) => cells.filter(isDate).length);
  const date = Math.max(0, highest(dates));
  const amounts = columns.map((cells, i) => {
    const read = Math.max(howMany(cells, amountReader(',')), howMany(cells, amountReader('.')));
    if (i === date || read === 0) return 0;
    return read + cells.filter((cell) => WITH_CENTS.test(cell)).length + named(i, AMOUNT_TITLE) * read;
  });
  const amount = highest(amounts) < 0 ? Math.min(1, columns.length - 1) : highest(amounts);
  const references = columns.map((cells, i) =>
    i === date || i === amount
      ? 0
      : named(i, REFERENCE_TITLE) * 2_000 + named(i, REMARK_TITLE) * 1_000 + cells.filter(Boolean).length,
  );
  const reference = highest(references);
  const written = columns[amount] ?? [];
  const comma = howMany(written, amountReader(',')) >= howMany(written, amountReader('.'));
  return {
    header,
    dateColumn: String(date + 1),
    amountColumn: String(amount + 1),
    referenceColumn: reference < 0 ? '-' : String(reference + 1),
    dateFormat: dateFormatOf(columns[date] ?? []),
    decimal: comma ? (',' as const) : ('.' as const),
  };
};

/** How a statement seems to be written. */
export const previewOf = (bytes: Uint8Array, given?: StatementLayout): StatementPreview => {
  const layout = given ?? layoutOf(bytes);
  const read = beginning(bytes, layout);
  const records = read.map(({ record }) => record);
  const above = Buffer.from(bytes.subarray(0, LOOKED_AT_BYTES))
    .toString(layout.encoding)
    .split(/\r\n|\n|\r/, layout.skipLines)
    .join('\n');
  return { format: { ...layout, ...columnsOf(records) }, records, above };
};
