import { open, rename, rm } from 'node:fs/promises';
import { Option } from 'commander';
import type { Command } from 'commander';
import type { CliServices } from './cli-services.ts';
import { REPORT_FORMATS, printedRows } from './columns.ts';
import type { Column, Printing, ReportFormat, Rows } from './columns.ts';
import type { CliDependencies } from './command-line.ts';

/** What every command that lists or shows takes. */
export interface ReportOptions {
  readonly o?: ReportFormat;
  /** An earlier spelling of `-o`. */
  readonly format?: ReportFormat | 'text';
  readonly output?: string;
}

/** `-o` and `--output`, and the spelling from before. */
export const withReportOptions = (command: Command, dependencies: CliDependencies): Command =>
  command
    .addOption(
      new Option(
        '-o <format>',
        'how it is written; json: one element a line (default: table on a terminal, json elsewhere)',
      ).choices(REPORT_FORMATS),
    )
    .option('--output <file>', 'write it to a file, which is there as a whole or not at all')
    .addOption(new Option('--format <format>').choices([...REPORT_FORMATS, 'text']).hideHelp())
    .on('option:format', () => dependencies.writeError('--format is now written -o; it goes on working\n'));

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

/** Prints a report, or puts it into a file that is there as a whole or not at all. */
export const deliver = async (
  dependencies: CliDependencies,
  chunks: Rows<string>,
  { output, format }: { readonly output?: string | undefined; readonly format: ReportFormat },
): Promise<void> => {
  if (output === undefined) {
    const write = printerOf(dependencies, format);
    for await (const chunk of chunks) await write(chunk);
    return;
  }
  const unfinished = `${output}.unfinished`;
  const file = await open(unfinished, 'w');
  try {
    for await (const chunk of chunks) await file.write(chunk);
    await file.sync();
    await file.close();
    await rename(unfinished, output);
  } catch (error) {
    await file.close().catch(() => undefined);
    await rm(unfinished, { force: true });
    throw error;
  }
};

/** Opens the services and prints rows in the format that was asked for, as they come. */
export const listRows = async <Row>(
  dependencies: CliDependencies,
  options: ReportOptions,
  columns: readonly Column<Row>[],
  rows: (services: CliServices) => Rows<Row>,
): Promise<void> => {
  const services = await dependencies.open();
  try {
    const printing = printingOf(dependencies, options);
    await deliver(dependencies, printedRows(columns, rows(services), printing), { ...options, ...printing });
  } finally {
    await services.close();
  }
};
