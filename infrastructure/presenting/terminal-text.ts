import { WAITING_STATUSES } from '../../domain/loan/statuses.ts';
import type { ShownStatus } from '../../domain/loan/statuses.ts';

/** What moves a cursor, colours, deletes or turns around what stands beside it: control characters and marks of direction. */
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Text that a terminal only shows. In JSON the escapes stand for the same characters. */
export const shownOnly = (text: string): string => text.replace(CONTROLS, escaped);

/** The same for a value that stands in one line among others, which it must not be able to imitate. */
export const inOneLine = (text: string): string => shownOnly(text).replace(/[\n\t]/g, escaped);

const BOLD = 1;
const [RED, GREEN, YELLOW] = [31, 32, 33];
const STATES: readonly (readonly [colour: number, states: readonly string[]])[] = [
  [GREEN, ['active', 'settled'] satisfies readonly ShownStatus[]],
  [GREEN, ['ok', 'delivered', 'serving', 'running']],
  [YELLOW, WAITING_STATUSES],
  [YELLOW, ['pending', 'paused', 'warning', 'retrying']],
  [RED, ['rejected'] satisfies readonly ShownStatus[]],
  [RED, ['failed', 'halted', 'failing']],
];
/** Cells of any other text keep the colour of the terminal. */
const COLOURS: ReadonlyMap<string, number> = new Map(
  STATES.flatMap(([colour, states]) => states.map((state) => [state, colour] as const)),
);

const styled = (text: string, code: number | undefined): string =>
  code === undefined ? text : `\u001b[${code}m${text}\u001b[0m`;

interface TableCells {
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
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
  const body = rows.map((row) => printed(row, (cell) => COLOURS.get(cell)));
  return [...head, ...body].map((line) => `${line}\n`).join('');
};
