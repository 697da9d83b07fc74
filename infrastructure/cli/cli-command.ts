import { Command, Option } from 'commander';
import type { App } from '../../application/app.ts';
import { REPORT_FORMATS, printedRows } from '../presenting/columns.ts';
import type { Column, Printing, ReportFormat, Rows } from '../presenting/columns.ts';
import { WrongUseError, tell, whileRead, withService } from './command-line.ts';
import type { CommandDependencies } from './command-line.ts';
import { operatorOption } from './options.ts';
import { fileToWrite, writeWhole } from './files.ts';

/** Of examples: a fund. */
export const FUND = '3f0c1e52-8a44-4b8e-9d64-0b7f6f1c2a10';

interface ReportOptions {
  readonly o?: ReportFormat;
  /** An earlier spelling of `-o`. */
  readonly format?: ReportFormat | 'text';
  readonly output?: string;
  readonly limit?: number;
}

/** Those of a list, or what the services make of them. */
type Columns<Row> = readonly Column<Row>[] | ((services: App) => Promise<readonly Column<Row>[]>);

type Listed<Row> = Rows<Row> | Promise<Rows<Row>>;

interface Wording<Difference, Summary> {
  readonly columns: readonly Column<Difference>[];
  readonly text: (difference: Difference) => string;
  readonly summaryText: (summary: Summary) => string;
  readonly summaryJson: (summary: Summary) => string;
}

/** A command with what many of ours have alike. What it does is handed its arguments, its options and itself. */
export class CliCommand extends Command {
  readonly dependencies: CommandDependencies;

  constructor(dependencies: CommandDependencies, name?: string) {
    super(name);
    this.dependencies = dependencies;
  }

  override createCommand(name?: string): CliCommand {
    return new CliCommand(this.dependencies, name);
  }

  /** Stands below the options in its help. @param examples what follows the name of the program */
  told(text: string, ...examples: readonly string[]): this {
    const title = examples.length > 1 ? 'Examples' : 'Example';
    const shown = examples.map((example) => `\n  receivables ${example}`).join('');
    return this.addHelpText('after', `${text === '' ? '' : `\n${text}\n`}\n${title}:${shown}`);
  }

  /** `-o` and `--output`, and the spelling from before, for what lists or shows. */
  reporting(): this {
    return this.addOption(
      new Option(
        '-o <format>',
        'how it is written; json: one element a line (default: table on a terminal, json elsewhere)',
      ).choices(REPORT_FORMATS),
    )
      .option(
        '--output <file>',
        'write it to a file, which is there as a whole or not at all',
        fileToWrite('--output'),
      )
      .addOption(new Option('--format <format>').choices([...REPORT_FORMATS, 'text']).hideHelp())
      .on('option:format', () =>
        this.configureOutput().writeErr?.('--format is now written -o; it goes on working\n'),
      );
  }

  deciding(): this {
    return this.option(
      '--operator <name>',
      'who decides, as it is recorded (default: your login name)',
      operatorOption,
    );
  }

  /** Nothing is opened for what was given wrongly. @param flawOf what is wrong with arguments and options */
  refusing<Given extends readonly unknown[]>(flawOf: (...given: Given) => string | undefined): this {
    return this.hook('preAction', () => {
      const given = [...(this.processedArgs as readonly unknown[]), this.opts()];
      const flaw = flawOf(...(given as unknown as Given));
      if (flaw !== undefined) throw new WrongUseError(flaw);
    });
  }

  /** Opens the service for the work, and closes it whatever happens. */
  serving<Given extends readonly unknown[]>(work: (services: App, ...given: Given) => Promise<void>): this {
    return this.action((...given: Given) =>
      withService(this.dependencies, (services) => work(services, ...given)),
    );
  }

  answering<Given extends readonly unknown[]>(
    work: (services: App, ...given: Given) => Promise<object>,
  ): this {
    return this.action((...given: Given) => this.answer((services) => work(services, ...given)));
  }

  /** Prints what comes out as JSON, once the service is closed. */
  async answer(work: (services: App) => Promise<object>): Promise<void> {
    const result = await withService(this.dependencies, work);
    await this.dependencies.write(`${JSON.stringify(result)}\n`);
  }

  /** Prints each value as one line of JSON as soon as it is there. */
  answeringLines<Given extends readonly unknown[]>(
    work: (services: App, ...given: Given) => AsyncIterable<object>,
  ): this {
    return this.serving(async (services, ...given: Given) => {
      for await (const line of work(services, ...given)) await tell(this.dependencies, line);
    });
  }

  /** Prints rows in the format that is asked for, as they come. */
  listing<Row, Given extends readonly unknown[]>(
    columns: Columns<Row>,
    rows: (services: App, ...given: Given) => Listed<Row>,
  ): this {
    return this.reporting().action((...given: Given) =>
      this.list(columns, (services) => rows(services, ...given)),
    );
  }

  list<Row>(columns: Columns<Row>, rows: (services: App) => Listed<Row>): Promise<void> {
    return withService(this.dependencies, async (services) => {
      const shown = typeof columns === 'function' ? await columns(services) : columns;
      const listed = await rows(services);
      await this.deliver((printing) => printedRows(shown, listed, printing));
    });
  }

  /** A file is for a program, unless its name or `-o` says otherwise. */
  get #format(): ReportFormat {
    const { o, format, output } = this.opts<ReportOptions>();
    const given = o ?? (format === 'text' ? 'table' : format);
    if (given !== undefined) return given;
    if (output !== undefined) return output.toLowerCase().endsWith('.csv') ? 'csv' : 'json';
    return this.dependencies.terminal ? 'table' : 'json';
  }

  get printing(): Printing {
    const { output } = this.opts<ReportOptions>();
    return { format: this.#format, colour: output === undefined && this.dependencies.colour };
  }

  /** Cells of a table are made harmless one by one, because the table has colours of its own. */
  print(text: string): unknown {
    const { dependencies } = this;
    return this.#format === 'table' ? dependencies.show(text) : dependencies.write(text);
  }

  /** Prints a report, or puts it into a file that is there as a whole or not at all. */
  async deliver(
    report: (printing: Printing) => Rows<string>,
    writing = async (write: () => unknown): Promise<void> => void (await write()),
  ): Promise<void> {
    const { output } = this.opts<ReportOptions>();
    const chunks = report(this.printing);
    if (output !== undefined) return writeWhole(output, chunks);
    for await (const chunk of chunks) await writing(() => this.print(chunk));
  }

  /**
   * As many rows as `--limit` says. Without it a file and CSV get all of them, anything else the first `usual`. That something was cut off
   * is said.
   */
  async *limited<Row>(usual: number, rows: (limit: number) => Rows<Row>): AsyncGenerator<Row> {
    const options = this.opts<ReportOptions>();
    const whole = options.output !== undefined || this.#format === 'csv';
    const limit = options.limit ?? (whole ? Infinity : usual);
    let count = 0;
    for await (const row of rows(limit + 1)) {
      if (count === limit) {
        const rest =
          options.limit === undefined
            ? '--output FILE writes all of them'
            : 'leave it out with --output FILE for all of them';
        this.dependencies.writeError(
          `only the first ${limit} are listed and there are more: --limit N lists more, ${rest}\n`,
        );
        return;
      }
      count += 1;
      yield row;
    }
  }

  /** Each difference as it is found, then the summary, for which CSV has no line and which is the answer: whoever reads it, it is looked for to the end. */
  async deliverDifferences<Difference, Summary>(
    differences: AsyncGenerator<Difference, Summary>,
    { columns, text, summaryText, summaryJson }: Wording<Difference, Summary>,
  ): Promise<Summary> {
    const format = this.#format;
    const { dependencies } = this;
    let summary: Summary | undefined;
    async function* found(): AsyncGenerator<Difference> {
      summary = yield* differences;
    }
    async function* lines(): AsyncGenerator<string> {
      if (format === 'table') for await (const difference of found()) yield text(difference);
      else yield* printedRows(columns, found(), { format, colour: false, follow: true });
      if (format === 'csv') dependencies.writeError(summaryText(summary!));
      else yield format === 'json' ? summaryJson(summary!) : summaryText(summary!);
    }
    await this.deliver(lines, whileRead);
    return summary!;
  }
}
