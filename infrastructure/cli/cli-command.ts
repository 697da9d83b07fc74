import { Command, Option } from 'commander';
import { REPORT_FORMATS } from '../presenting/columns.ts';
import { operatorOption } from './options.ts';
import { fileToWrite } from './path-options.ts';

/** Of examples: a fund. */
export const FUND = '3f0c1e52-8a44-4b8e-9d64-0b7f6f1c2a10';

/** A command with what many of ours have alike. */
export class CliCommand extends Command {
  override createCommand(name?: string): CliCommand {
    return new CliCommand(name);
  }

  /** Stands below the options in its help. @param examples what follows the name of the program */
  told(text: string, ...examples: readonly string[]): this {
    const title = examples.length > 1 ? 'Examples' : 'Example';
    const shown = examples.map((example) => `\n  receivables ${example}`).join('');
    return this.addHelpText('after', `${text === '' ? '' : `\n${text}\n`}\n${title}:${shown}`);
  }

  /** `-o` and `--output`, and the spelling from before, for what lists or shows. @see ReportOptions */
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

  /** For what decides. */
  deciding(): this {
    return this.option(
      '--operator <name>',
      'who decides, as it is recorded (default: your login name)',
      operatorOption,
    );
  }
}
