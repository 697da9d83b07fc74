import { InvalidArgumentError, Option } from 'commander';
import { FUND } from './cli-command.ts';
import type { CliCommand } from './cli-command.ts';
import { isShownStatus, LOAN_STATUSES } from '../../domain/loan/statuses.ts';
import type { App } from '../../application/app.ts';
import type { Column } from '../presenting/columns.ts';
import { withFundNames, withNameBeside } from '../presenting/fund-names.ts';
import { Loan } from '../presenting/loan.ts';
import { LOAN_COLUMNS } from '../presenting/loan-columns.ts';
import { NotAllowedError } from './command-line.ts';
import { warnOfLeftOut } from './left-out.ts';
import { recordLines } from './desk-lines.ts';
import {
  limitOption,
  FUND_OPTION,
  ONLY_APPLICATION,
  WHOSE_OPERATION,
  applicationWith,
  scopeOf,
} from './options.ts';
import type { Scope } from './options.ts';
import { showObject } from './shown-object.ts';

interface ListOptions extends Scope {
  readonly status?: readonly string[];
  readonly overdue?: true;
}

interface OfOne {
  readonly application?: string;
}

type Shown = Readonly<Record<string, unknown>>;

const USUALLY_LISTED = 1_000;

const DOCUMENT_COLUMNS = ['document_id', 'type', 'value', 'sha256', 'size', 'received_at'].map(
  (name): Column<Shown> => ({
    name,
    of: (row) => row[name],
    ...(name === 'sha256' && { table: false }),
    ...(name === 'size' && { bytes: true }),
  }),
);

export const addLoanCommands = (program: CliCommand): void => {
  const loan = program
    .command('loan')
    .description('operations of any application, as the interface shows them')
    .told('', 'loan list --status received');
  loan
    .command('list')
    .description('operations, of each application the oldest first')
    .option(...ONLY_APPLICATION)
    .option(FUND_OPTION, 'only of this fund')
    .addOption(
      new Option('--status <status>', 'only these; several with commas between them')
        .choices(LOAN_STATUSES)
        .argParser(statesOption),
    )
    .option('--overdue', 'only those that are late, by days_late, the most first')
    .option(
      '--limit <n>',
      'at most so many (default: 1000; all of them with --output or -o csv)',
      limitOption,
    )
    .told(
      '',
      'loan list --status active',
      'loan list --status active --overdue',
      `loan list --fund ${FUND} -o csv --output loans.csv`,
    )
    .listing(columnsOf, async function* (services, options: ListOptions, command: CliCommand) {
      const { status, overdue } = options;
      const scope = await scopeOf(services, options);
      await services.loans.catchUp();
      await warnOfLeftOut(services, command.dependencies);
      const query = { ...scope, ...(status && { status }), ...(overdue && { overdue }) };
      yield* command.limited(USUALLY_LISTED, (limit) => services.loans.rows({ ...query, limit }));
    });
  loan
    .command('show')
    .description(
      'an operation with its installments, balances and documents; without the name of the borrower',
    )
    .argument('<code>', 'originator_proposal_code')
    .option(...WHOSE_OPERATION)
    .reporting()
    .told('Its whole history: receivables audit show.', 'loan show OP-2026-000123')
    .serving(async (services, code: string, { application }: OfOne, command: CliCommand) => {
      const shown = await shownLoan(services, code, application);
      await warnOfLeftOut(services, command.dependencies, (one) => one.code === code);
      await showObject(command, shown);
    });
  loan
    .command('documents')
    .description('documents of an operation; their names are null once the borrower was forgotten')
    .argument('<code>', 'originator_proposal_code')
    .option(...WHOSE_OPERATION)
    .told('', 'loan documents OP-2026-000123')
    .listing(DOCUMENT_COLUMNS, async function* (services, code: string, { application }: OfOne) {
      const shown = await shownLoan(services, code, application);
      yield* shown['documents'] as readonly Shown[];
    });
};

const statesOption = (text: string): readonly string[] => {
  const states = text.split(',');
  if (states.every(isShownStatus)) return [...new Set(states)];
  throw new InvalidArgumentError(`Allowed choices are ${LOAN_STATUSES.join(', ')}.`);
};

const columnsOf = async ({ funds }: App) =>
  withFundNames(LOAN_COLUMNS, await funds.names(), (row) => row.fund_id);

/** The borrower's document is masked, a name cannot be. */
const withoutName = ({ borrower, ...shown }: Shown): Shown => {
  const { name: _, ...known } = (borrower ?? {}) as Shown;
  return { ...shown, borrower: borrower && known };
};

const shownLoan = async (services: App, code: string, application: string | undefined): Promise<Shown> => {
  const applicationId = await applicationWith(services, code, application);
  await services.loans.catchUp();
  const loan = await services.loans.read({ applicationId }, code);
  if (loan === undefined) throw new NotAllowedError(`application ${applicationId} has no operation ${code}`);
  await recordLines(services, [{ action: 'viewed', applicationId, code, fundId: loan.loan.fund_id }]);
  const shown = withoutName(Loan.show(loan));
  return { application_id: applicationId, ...withNameBeside(shown, await services.funds.names()) };
};
