import { stringify } from 'csv-stringify/sync';

/**
 * Where a spreadsheet may see a cell begin with a formula. Those of some languages separate cells by semicolons, and then the quotes of
 * a text that stands further on in its line mean nothing: so what follows any separator counts like a beginning.
 */
const BEGINS_FORMULA = /(?<=^|[,;\t\r\n])(?=[ \u00a0"]*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20])/g;
/** Which spreadsheets open it as it is: those of most languages, or those of Brazil. */
export const CSV_DIALECTS = ['plain', 'brazilian'] as const;
export type CsvDialect = (typeof CSV_DIALECTS)[number];

interface Writing {
  readonly delimiter: string;
  /** Cells that stand between quotes: any that a reader with another separator would take apart. */
  readonly quoted: RegExp;
  /** Before everything else. Without a mark, Excel does not read UTF-8. */
  readonly begins: string;
  readonly number: (text: string) => string;
}
const WRITING: Readonly<Record<CsvDialect, Writing>> = {
  plain: { delimiter: ',', quoted: /[,;\t\r\n"]/, begins: '', number: (text) => text },
  brazilian: {
    delimiter: ';',
    quoted: /^(?!-?\d+,\d+$)[^]*[,;\t\r\n"]/,
    begins: '\ufeff',
    number: (text) => text.replace('.', ','),
  },
};
export const csvBegins = (dialect: CsvDialect): string => WRITING[dialect].begins;

const NUMBER = /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i;

/** As people read it: nothing for what is not there, lists with commas, objects as JSON. */
export const textOf = (value: unknown): string => {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value;
  if (Array.isArray(value) && value.every((one) => typeof one !== 'object')) return value.join(', ');
  return JSON.stringify(value);
};

const isNumber = (value: unknown, text: string): boolean =>
  (typeof value === 'number' || JSON.isRawJSON(value)) && NUMBER.test(text);

/** Text that others chose gets an apostrophe wherever it would become a formula; numbers stay numbers. */
const cellOf = (value: unknown, { number }: Writing): string => {
  const text = textOf(value);
  return isNumber(value, text) ? number(text) : text.replace(BEGINS_FORMULA, "'");
};

/**
 * Rows as lines of CSV; the only place that writes any. No amount stands first in its row: read with another separator, the whole
 * line is one cell.
 */
export const csvText = (rows: readonly (readonly unknown[])[], dialect: CsvDialect = 'plain'): string => {
  const writing = WRITING[dialect];
  const { delimiter, quoted } = writing;
  return stringify(
    rows.map((row) => row.map((value) => cellOf(value, writing))),
    { delimiter, quoted_match: quoted },
  );
};
