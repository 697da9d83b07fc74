import type { Command } from 'commander';
import type { DeskQuery } from '../../application/desk/desk.ts';
import { DESK_COLUMNS } from '../presenting/desk-columns.ts';
import { withNamesBeside } from '../presenting/fund-names.ts';
import type { CliDependencies } from './command-line.ts';
import { instantOption } from './report-options.ts';
import { listRows, withReportOptions } from './report-output.ts';
import type { ReportOptions } from './report-output.ts';
import { FUND_OPTION, fundOf } from './scope.ts';

interface LogOptions extends ReportOptions, Pick<DeskQuery, 'since' | 'subject' | 'code'> {
  readonly fund?: string;
}

/** `desk log`. */
export const addDeskCommands = (program: Command, dependencies: CliDependencies): void => {
  const log = program
    .command('desk')
    .description('who saw and did what: at the console, on the command line and on the topic')
    .addHelpText('after', '\nExample:\n  receivables desk log')
    .command('log')
    .description('what was seen, done and refused, the oldest first')
    .option('--since <time>', 'at this instant or later, such as 2026-06-30T18:00:00Z', instantOption)
    .option('--subject <subject>', 'only of this person, as the provider of the sign-in names it')
    .option(FUND_OPTION, 'only about this fund')
    .option('--code <code>', 'only about operations with this originator_proposal_code');
  withReportOptions(log, dependencies)
    .addHelpText(
      'after',
      '\nA line has ids and codes alone: nothing of a borrower, nothing that was typed or searched for. Without sign-in it names the\n' +
        'operator, whom nothing proves.\n\n' +
        'Examples:\n  receivables desk log --since 2026-06-30T18:00:00Z\n  receivables desk log --code OP-2026-000123 -o csv --output desk.csv',
    )
    .action((options: LogOptions) =>
      listRows(
        dependencies,
        options,
        async ({ funds }) => withNamesBeside(DESK_COLUMNS, await funds.names()),
        async function* (services) {
          const { since, subject, code, fund } = options;
          yield* services.desk.lines({
            ...(since !== undefined && { since }),
            ...(subject !== undefined && { subject }),
            ...(code !== undefined && { code }),
            ...(fund !== undefined && { fundId: await fundOf(services, fund) }),
          });
        },
      ),
    );
};
