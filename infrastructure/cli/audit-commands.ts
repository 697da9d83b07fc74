import type { Command } from 'commander';
import { Option } from 'commander';
import type { CalendarDate } from '../../domain/shared/calendar-date.ts';
import { inJson, inText } from './audit-show.ts';
import { verify } from './audit-verify.ts';
import type { VerifyOptions } from './audit-verify.ts';
import type { CliDependencies } from './cli-services.ts';
import { dateOption, fundOption, instantOption } from './report-options.ts';

interface ShowOptions {
  readonly application?: string;
  readonly asOf?: CalendarDate;
  readonly knownAt?: string;
  readonly format: 'text' | 'json';
}

const formatOption = (): Option =>
  new Option('--format <format>', 'how the answer is written').choices(['text', 'json']).default('text');

/** `audit show` and `audit verify`. */
export const addAuditCommands = (program: Command, dependencies: CliDependencies): void => {
  const audit = program
    .command('audit')
    .description('history of operations, and proof that it was not changed')
    .addHelpText('after', '\nExample:\n  receivables audit verify');
  audit
    .command('show')
    .description('an operation with all that happened to it, who caused it and how each price came about')
    .argument('<code>', 'originator_proposal_code')
    .option('--application <id>', 'whose operation; needed when several applications use the code')
    .option('--as-of <date>', 'as it was on this day, such as 2026-06-30', dateOption)
    .option(
      '--known-at <time>',
      'as it was known at this instant: leaves out what was recorded later',
      instantOption,
    )
    .addOption(formatOption())
    .addHelpText(
      'after',
      '\nAll events are listed; those that do not count on that day, or were not known, say so. Nothing of the borrower is shown.\n\n' +
        'Examples:\n  receivables audit show OP-1\n' +
        '  receivables audit show OP-1 --as-of 2026-06-30 --known-at 2026-07-01T12:00:00Z --format json',
    )
    .action((code: string, options: ShowOptions) => show(code, options, dependencies));
  audit
    .command('verify')
    .description('check the whole log and everything that was made of it')
    .option('--fund <uuid>', 'only operations of this fund', fundOption)
    .option('--anchor <file>', 'compare with the heads of streams that this file keeps')
    .option('--write-anchor <file>', 'keep the heads of all streams in this file when there is no difference')
    .addOption(formatOption())
    .addHelpText(
      'after',
      '\nHash chains, revisions, every decision and price, keys, public events, read models and the delivery log. Each difference is a\n' +
        'line: kind, stream, revision, what, expected, found. Exit code 1 when there is one. Works while the service runs.\n' +
        'Keep anchors where nobody who can write the database can write: with one, a history that was written anew is found.\n\n' +
        'Examples:\n  receivables audit verify\n  receivables audit verify --anchor heads-june.jsonl --write-anchor heads-july.jsonl',
    )
    .action((options: VerifyOptions) => verify(options, dependencies));
};

const show = async (
  code: string,
  { application, asOf, knownAt, format }: ShowOptions,
  dependencies: CliDependencies,
): Promise<void> => {
  const services = await dependencies.open();
  try {
    const { audit } = services;
    const request = {
      applicationId: application ?? (await audit.applicationOf(code)),
      code,
      ...(asOf !== undefined && { asOf }),
      ...(knownAt !== undefined && { knownAt }),
    };
    const shown = await audit.operations.execute(request);
    await dependencies.write(format === 'json' ? inJson(shown, request) : inText(shown, request));
  } finally {
    await services.close();
  }
};
