import { open, rename, rm } from 'node:fs/promises';
import { stringify } from 'csv-stringify/sync';
import { formatCents } from '../../domain/shared/money.ts';
import type { Cents } from '../../domain/shared/money.ts';
import type { CliDependencies } from './cli-services.ts';
import { inOneLine } from './terminal-text.ts';

export const REPORT_FORMATS = ['table', 'csv', 'json'] as const;
export type ReportFormat = (typeof REPORT_FORMATS)[number];

const ROWS_AT_ONCE = 1_000;
/** A spreadsheet takes text that begins so for a formula. */
const FORMULA = /^[=+\-@\t\r]/;

export const money = (cents: number): string => formatCents(cents as Cents);

/** Text that others chose, made harmless for spreadsheets. */
export const harmless = (text: string): string => (FORMULA.test(text) ? `'${text}` : text);

export type CsvValue = string | number | null | undefined;

/** Rows as CSV text, some at a time. */
export function* csvOf(header: readonly string[], rows: Iterable<readonly CsvValue[]>): Generator<string> {
  let some: (readonly CsvValue[])[] = [header];
  for (const row of rows) {
    some.push(row);
    if (some.length < ROWS_AT_ONCE) continue;
    yield stringify(some);
    some = [];
  }
  if (some.length > 0) yield stringify(some);
}

/** Elements of a JSON array, some at a time. */
export function* jsonItems(items: Iterable<object>): Generator<string> {
  let [text, count] = ['', 0];
  for (const item of items) {
    text += `${count === 0 ? '' : ','}${JSON.stringify(item)}`;
    count += 1;
    if (count % ROWS_AT_ONCE !== 0) continue;
    yield text;
    text = '';
  }
  yield text;
}

/** Columns as wide as their widest cell; numbers stand to the right. */
export const textTable = (
  header: readonly string[],
  cells: readonly (readonly string[])[],
  toTheRight: readonly number[] = [],
): string => {
  const rows = cells.map((row) => row.map(inOneLine));
  const widths = header.map((title, i) => Math.max(title.length, ...rows.map((row) => row[i]!.length)));
  const printed = (row: readonly string[]): string =>
    row
      .map((cell, i) => (toTheRight.includes(i) ? cell.padStart(widths[i]!) : cell.padEnd(widths[i]!)))
      .join('  ')
      .trimEnd();
  return [header, widths.map((width) => '-'.repeat(width)), ...rows]
    .map((row) => `${printed(row)}\n`)
    .join('');
};

/** Prints a report, or puts it into a file that is there as a whole or not at all. */
export const deliver = async (
  dependencies: CliDependencies,
  chunks: Iterable<string>,
  output: string | undefined,
): Promise<void> => {
  if (output === undefined) {
    for (const chunk of chunks) await dependencies.write(chunk);
    return;
  }
  const unfinished = `${output}.unfinished`;
  const file = await open(unfinished, 'w');
  try {
    for (const chunk of chunks) await file.write(chunk);
    await file.sync();
    await file.close();
    await rename(unfinished, output);
  } catch (error) {
    await file.close().catch(() => undefined);
    await rm(unfinished, { force: true });
    throw error;
  }
};
