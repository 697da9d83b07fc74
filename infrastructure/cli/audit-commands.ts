import type { CliCommand } from './cli-command.ts';
import type { CalendarDate } from '../../domain/shared/calendar-date.ts';
import { printShown } from '../presenting/shown-operation.ts';
import { anchor, verify } from './audit-verify.ts';
import type { VerifyOptions } from './audit-verify.ts';
import { withService } from './command-line.ts';
import type { CliDependencies } from './command-line.ts';
import { fileToGrow, fileToRead, fileToWrite, requireApart } from './path-options.ts';
import { dateOption, instantOption } from './report-options.ts';
import { deliver } from './report-output.ts';
import type { ReportOptions } from './report-output.ts';
import { FUND_OPTION, applicationWith } from './scope.ts';

interface ShowOptions extends ReportOptions {
  readonly application?: string;
  readonly asOf?: CalendarDate;
  readonly knownAt?: string;
}

/** `audit show`, `audit verify` and `audit anchor`. */
export const addAuditCommands = (program: CliCommand, dependencies: CliDependencies): void => {
  const audit = program
    .command('audit')
    .description('history of operations, and proof that it was not changed')
    .told('', 'audit verify');
  audit
    .command('show')
    .description('an operation with all that happened to it, who caused it and how each price came about')
    .argument('<code>', 'originator_proposal_code')
    .option('--application <id|name>', 'whose operation; needed when several applications use the code')
    .option('--as-of <date>', 'as it was on this day, such as 2026-06-30', dateOption)
    .option(
      '--known-at <time>',
      'as it was known at this instant: leaves out what was recorded later',
      instantOption,
    )
    .reporting()
    .told(
      'All events are listed; those that do not count on that day, or were not known, say so. Nothing of the borrower is shown.\n' +
        'CSV holds one event a line.',
      'audit show OP-1',
      'audit show OP-1 --as-of 2026-06-30 --known-at 2026-07-01T12:00:00Z -o json',
    )
    .action((code: string, options: ShowOptions) => show(code, options, dependencies));
  audit
    .command('verify')
    .description('check the whole log and everything that was made of it')
    .option(FUND_OPTION, 'only operations of this fund')
    .option('--anchor <file>', 'compare with what this file kept', fileToRead('--anchor'))
    .option(
      '--write-anchor <file>',
      'keep the end of the seal book and the heads of all streams in this file when there is no difference',
      fileToWrite('--write-anchor'),
    )
    .option('--documents', 'read every stored file as well: takes as long as reading them does')
    .option(
      '--resume <file>',
      'keep in this file how far the audit has come; given again after a stop, it goes on from there',
      fileToGrow('--resume'),
    )
    .reporting()
    .told(
      'Seals, hash chains, revisions, every decision and price, keys, public events, read models and the delivery log. Each\n' +
        'difference is a line: kind, stream, revision, what, expected, found; the last line sums up (CSV: on standard error). Exit code 4 when there is one. Works while the service runs.\n' +
        'Keep anchors where nobody who can write the database can write: with one, a log that was put back to an earlier state is found.',
      'audit verify',
      'audit verify --anchor heads-june.jsonl --write-anchor heads-july.jsonl',
      'audit verify --resume /var/tmp/audit-2026-07.db',
    )
    .action((options: VerifyOptions) => {
      const written = { '--output': options.output, '--resume': options.resume };
      requireApart({ ...written, '--write-anchor': options.writeAnchor });
      // An anchor may be replaced by the next one.
      requireApart({ ...written, '--anchor': options.anchor });
      return verify(options, dependencies);
    });
  audit
    .command('anchor')
    .description('seal the log up to now and print, signed, where it ends: for a timer, to be kept elsewhere')
    .option(
      '--output <file>',
      'write it to this file, readable by its owner only, instead of standard output',
      fileToWrite('--output'),
    )
    .told(
      'Hand it to `audit verify --anchor`: a log, or a whole directory, that was put back to an earlier state is found.',
      'audit anchor',
      'audit anchor --output /mnt/elsewhere/anchor-2026-07-01.jsonl',
    )
    .action(({ output }: { readonly output?: string }) => anchor(output, dependencies));
};

const show = async (code: string, options: ShowOptions, dependencies: CliDependencies): Promise<void> => {
  const { application, asOf, knownAt } = options;
  return withService(dependencies, async (services) => {
    const request = {
      applicationId: await applicationWith(services, code, application),
      code,
      asOf,
      knownAt,
    };
    const shown = await services.audit.show(request);
    const names = await services.funds.names();
    await deliver(dependencies, options, (printing) => printShown(shown, request, { ...printing, names }));
  });
};
