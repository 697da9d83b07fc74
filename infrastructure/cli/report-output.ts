import { randomUUID } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import type { App } from '../../application/app.ts';
import { printedRows, lineByLine } from '../presenting/columns.ts';
import type { Column, Printing, ReportFormat, Rows } from '../presenting/columns.ts';
import { naming } from '../support/durable-files.ts';
import { withService } from './command-line.ts';
import type { CliDependencies } from './command-line.ts';

/** What every command that lists or shows takes. */
export interface ReportOptions {
  readonly o?: ReportFormat;
  /** An earlier spelling of `-o`. */
  readonly format?: ReportFormat | 'text';
  readonly output?: string;
}

/** A file is for a program, unless its name or `-o` says otherwise. */
const formatOf = (
  { terminal = false }: CliDependencies,
  { o, format, output }: ReportOptions,
): ReportFormat => {
  const given = o ?? (format === 'text' ? 'table' : format);
  if (given !== undefined) return given;
  if (output !== undefined) return output.toLowerCase().endsWith('.csv') ? 'csv' : 'json';
  return terminal ? 'table' : 'json';
};

export const printingOf = (dependencies: CliDependencies, options: ReportOptions): Printing => ({
  format: formatOf(dependencies, options),
  colour: options.output === undefined && (dependencies.colour ?? false),
});

/** Cells of a table are made harmless one by one, because the table has colours of its own. */
export const printerOf =
  (dependencies: CliDependencies, format: ReportFormat) =>
  (text: string): unknown =>
    format === 'table' && dependencies.show ? dependencies.show(text) : dependencies.write(text);

const READABLE = 0o666;

/**
 * A file that is there as a whole or not at all; until then it has a name of its own, for another command may write the same.
 * @param mode default: what the process gives its files
 */
export const writeWhole = async (output: string, chunks: Rows<string>, mode = READABLE): Promise<void> => {
  const unfinished = `${output}.${randomUUID()}.unfinished`;
  const file = await open(unfinished, 'wx', mode);
  try {
    // Unlike `write`, all of it or an error.
    for await (const chunk of chunks) await naming(output, file.writeFile(chunk));
    await naming(output, file.sync());
    await file.close();
    await rename(unfinished, output);
  } catch (error) {
    await file.close().catch(() => undefined);
    await rm(unfinished, { force: true });
    throw error;
  }
};

/** Prints a report, or puts it into a file that is there as a whole or not at all. */
export const deliver = async (
  dependencies: CliDependencies,
  options: ReportOptions,
  report: (printing: Printing) => Rows<string>,
): Promise<void> => {
  const printing = printingOf(dependencies, options);
  const chunks = report(printing);
  if (options.output !== undefined) return writeWhole(options.output, chunks);
  const write = printerOf(dependencies, printing.format);
  for await (const chunk of chunks) await write(chunk);
};

/**
 * As many rows as `--limit` says. Without it a file and CSV get all of them, anything else the first `usual`. That something was cut off
 * is said.
 */
export async function* limited<Row>(
  dependencies: CliDependencies,
  options: ReportOptions & { readonly limit?: number },
  usual: number,
  rows: (limit: number) => Rows<Row>,
): AsyncGenerator<Row> {
  const whole = options.output !== undefined || printingOf(dependencies, options).format === 'csv';
  const limit = options.limit ?? (whole ? Infinity : usual);
  let count = 0;
  for await (const row of rows(limit + 1)) {
    if (count === limit) {
      const rest =
        options.limit === undefined
          ? '--output FILE writes all of them'
          : 'leave it out with --output FILE for all of them';
      dependencies.writeError(
        `only the first ${limit} are listed and there are more: --limit N lists more, ${rest}\n`,
      );
      return;
    }
    count += 1;
    yield row;
  }
}

/** Those of a list, or what the services make of them. */
type Columns<Row> = readonly Column<Row>[] | ((services: App) => Promise<readonly Column<Row>[]>);

/** Opens the services and prints rows in the format that was asked for, as they come. */
export const listRows = <Row>(
  dependencies: CliDependencies,
  options: ReportOptions,
  columns: Columns<Row>,
  rows: (services: App) => Rows<Row> | Promise<Rows<Row>>,
): Promise<void> =>
  withService(dependencies, async (services) => {
    const shown = typeof columns === 'function' ? await columns(services) : columns;
    const listed = await rows(services);
    await deliver(dependencies, options, (printing) => printedRows(shown, listed, printing));
  });

interface Wording<Difference, Summary> {
  readonly columns: readonly Column<Difference>[];
  readonly text: (difference: Difference) => string;
  readonly summaryText: (summary: Summary) => string;
  readonly summaryJson: (summary: Summary) => string;
}

/**
 * Each difference as it is found, then the summary, for which CSV has no line. Answers the summary; undefined when the report was not read
 * to its end.
 */
export const deliverDifferences = async <Difference, Summary>(
  differences: AsyncGenerator<Difference, Summary>,
  { columns, text, summaryText, summaryJson }: Wording<Difference, Summary>,
  options: ReportOptions,
  dependencies: CliDependencies,
): Promise<Summary | undefined> => {
  const { format } = printingOf(dependencies, options);
  const lineOf = format === 'table' ? text : lineByLine(columns, { format, colour: false });
  let summary: Summary | undefined;
  async function* lines(): AsyncGenerator<string> {
    try {
      for (;;) {
        const next = await differences.next();
        if (next.done) {
          summary = next.value;
          break;
        }
        yield lineOf(next.value);
      }
      if (format === 'csv') dependencies.writeError(summaryText(summary));
      else yield format === 'json' ? summaryJson(summary) : summaryText(summary);
    } finally {
      await differences.return(undefined as never);
    }
  }
  await deliver(dependencies, options, lines);
  return summary;
};
