import type { StatementFormat } from '../../application/reconciliation/statements.ts';
import { StatementError } from '../../application/reconciliation/statements.ts';
import { isCalendarDate } from '../../domain/shared/calendar-date.ts';
import type { CalendarDate } from '../../domain/shared/calendar-date.ts';

/** None where the first line says how all of them end. It does not where a program put a line of its own before what another one wrote. */
export const lineEndsIn = (beginning: Uint8Array, encoding: StatementFormat['encoding']): string[] => {
  const ends = Buffer.from(beginning).toString(encoding).match(/\r?\n/g) ?? [];
  const others = ends.filter((end) => end !== ends[0]).length;
  return others > ends.length / 2 ? ['\r\n', '\n'] : [];
};

/** Without its mark: no text of another encoding has a zero in every other byte. @param first 0, or 1 where the lower byte comes first */
export const isUtf16 = (bytes: Uint8Array, first: 0 | 1): boolean => {
  const mark = first === 0 ? [0xfe, 0xff] : [0xff, 0xfe];
  const zeros = bytes.reduce((count, byte, at) => (byte === 0 && at % 2 === first ? count + 1 : count), 0);
  return mark.every((byte, at) => bytes[at] === byte) || zeros > bytes.length / 4;
};

const CURRENCY = /^R\$\s*/;
/** Credit and debit, as banks mark them behind the amount. */
const SIDE = /[CD]$/i;
const LONGEST = 13;

const shapes = {
  ',': /^(?:\d{1,3}(?:\.\d{3})+|\d+)(?:,(\d{1,2}))?$/,
  '.': /^(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.(\d{1,2}))?$/,
} as const;

/** Removes a sign, brackets or a debit mark; answers the rest, and whether the amount is negative. */
const unsigned = (text: string): { readonly digits: string; readonly negative: boolean } => {
  let negative = /D$/i.test(text);
  let digits = text.replace(SIDE, '').trim();
  if (digits.startsWith('(') && digits.endsWith(')')) [digits, negative] = [digits.slice(1, -1).trim(), true];
  digits = digits.replace(CURRENCY, '');
  if (digits.startsWith('-') || digits.endsWith('-')) negative = true;
  if (/^[+-]/.test(digits)) digits = digits.slice(1).trimStart();
  if (digits.endsWith('-')) digits = digits.slice(0, -1).trimEnd();
  return { digits: digits.replace(CURRENCY, ''), negative };
};

/**
 * Reads amounts such as `1.234,56`, `R$ 1.234,56 D`, `(950,00)` or `-1234.5`.
 * @returns integer cents; undefined for any other text, such as thousands in groups of two
 */
export const amountReader = (decimal: '.' | ','): ((text: string) => number | undefined) => {
  const shape = shapes[decimal];
  return (text) => {
    const { digits, negative } = unsigned(text);
    const found = shape.exec(digits);
    if (!found) return undefined;
    const fraction = found[1] ?? '';
    const whole = (fraction === '' ? digits : digits.slice(0, -fraction.length - 1)).replace(/[.,]/g, '');
    if (whole.length > LONGEST) return undefined;
    const cents = Number(whole) * 100 + Number(fraction.padEnd(2, '0'));
    return negative && cents > 0 ? -cents : cents;
  };
};

const PARTS = /yyyy|yy|mm|dd/g;
const WIDTHS: Readonly<Record<string, string>> = { yyyy: '\\d{4}', yy: '\\d{2}', mm: '\\d{2}', dd: '\\d{2}' };
/** Spreadsheets add a time to every date; it is ignored. */
const TIME = '(?:[ T]\\d{2}:\\d{2}(?::\\d{2})?)?';

const literally = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/**
 * Reads dates of a pattern such as `dd/mm/yyyy`; two digits of a year are of this century.
 * @returns undefined for another shape, or a day that does not exist
 */
export const dateReader = (format: string): ((text: string) => CalendarDate | undefined) => {
  const pattern = format.toLowerCase();
  const parts = pattern.match(PARTS) ?? [];
  const between = pattern.split(PARTS).map(literally);
  const shape = between.map((text, i) => text + (i < parts.length ? `(${WIDTHS[parts[i]!]!})` : '')).join('');
  const expression = new RegExp(`^${shape}${TIME}$`);
  const place = (part: string): number => parts.findIndex((found) => found.startsWith(part)) + 1;
  const [year, month, day] = [place('y'), place('m'), place('d')];
  const known = new Map<string, CalendarDate>();
  return (text) => {
    const seen = known.get(text);
    if (seen !== undefined) return seen;
    const found = expression.exec(text);
    if (!found) return undefined;
    const date = `${found[year]!.padStart(4, '20')}-${found[month]!}-${found[day]!}`;
    if (!isCalendarDate(date)) return undefined;
    known.set(text, date);
    return date;
  };
};

/** Places of the columns in a record; undefined for a reference that the statement does not have. */
export interface Columns {
  readonly date: number;
  readonly amount: number;
  readonly reference: number | undefined;
}

const folded = (text: string): string => text.trim().toLowerCase();

const LONGEST_LIST = 500;
const listed = (record: readonly string[]): string => {
  const text = record.join(', ');
  return text.length > LONGEST_LIST ? `${text.slice(0, LONGEST_LIST)}...` : text;
};

const numbered = (name: string, width: number): number | undefined =>
  /^\d{1,3}$/.test(name) && Number(name) >= 1 && Number(name) <= width ? Number(name) - 1 : undefined;

const locate = (name: string, option: string, record: readonly string[], header: boolean): number => {
  const found = header
    ? record.flatMap((title, index) => (folded(title) === folded(name) ? [index] : []))
    : [];
  if (found.length > 1)
    throw new StatementError(`${found.length} columns are called ${name}; give ${option} its number`, {
      problem: { kind: 'same_titles', text: name },
    });
  const place = found[0] ?? numbered(name, record.length);
  if (place !== undefined) return place;
  throw new StatementError(
    header
      ? `no column ${name} among ${listed(record)}; say with ${option} which one it is`
      : `${option} ${name} is not a column from 1 to ${record.length}`,
    { problem: { kind: 'no_column', text: name } },
  );
};

/** Finds the columns by the first record, which is the header where there is one. @throws StatementError */
export const columnsOf = (record: readonly string[], format: StatementFormat): Columns => {
  const { header } = format;
  return {
    date: locate(format.dateColumn, '--date-column', record, header),
    amount: locate(format.amountColumn, '--amount-column', record, header),
    reference:
      format.referenceColumn === '-'
        ? undefined
        : locate(format.referenceColumn, '--reference-column', record, header),
  };
};
