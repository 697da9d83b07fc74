import { Option } from 'commander';
import type { Command } from 'commander';
import { LOAN_STATUSES } from '../../application/schemas/values.ts';
import type { LoanRow } from '../../projections/loan/loan-view.ts';
import type { CliServices } from './cli-services.ts';
import type { Column } from './columns.ts';
import { NotAllowedError } from './command-line.ts';
import { warnOfLeftOut } from './left-out.ts';
import type { CliDependencies } from './command-line.ts';
import { countOption, fundOption } from './report-options.ts';
import { listRows, withReportOptions } from './report-output.ts';
import type { ReportOptions } from './report-output.ts';
import { applicationOf, scopeOf } from './scope.ts';
import type { Scope } from './scope.ts';
import { showObject } from './shown-object.ts';

interface ListOptions extends ReportOptions, Scope {
  readonly status?: string;
  readonly limit: number;
}

interface OfOne extends ReportOptions {
  readonly application?: string;
}

type Shown = Readonly<Record<string, unknown>>;

export const LOAN_COLUMNS: readonly Column<LoanRow>[] = [
  { name: 'application_id', of: (row) => row.application_id },
  { name: 'originator_proposal_code', of: (row) => row.code },
  { name: 'fund_id', of: (row) => row.fund_id },
  { name: 'status', of: (row) => row.status },
  { name: 'product_type', of: (row) => row.product_type, table: false },
  { name: 'acquisition_value', of: (row) => row.acquisition_value, amount: true },
  { name: 'number_of_installments', of: (row) => row.number_of_installments, table: false },
  { name: 'date_issued', of: (row) => row.date_issued },
  { name: 'received_at', of: (row) => row.received_at, table: false },
  { name: 'updated_at', of: (row) => row.updated_at },
];

const DOCUMENT_COLUMNS: readonly Column<Shown>[] = [
  ...['document_id', 'type', 'value', 'sha256', 'size', 'received_at'].map((name) => ({
    name,
    of: (row: Shown) => row[name],
    ...(name === 'sha256' && { table: false as const }),
  })),
];

/** `loan list`, `loan show` and `loan documents`. */
export const addLoanCommands = (program: Command, dependencies: CliDependencies): void => {
  const loan = program
    .command('loan')
    .description('operations of any application, as the interface shows them')
    .addHelpText('after', '\nExample:\n  receivables loan list --status received');
  addList(loan, dependencies);
  addShow(loan, dependencies);
  addDocuments(loan, dependencies);
};

const addList = (loan: Command, dependencies: CliDependencies): void => {
  const list = loan
    .command('list')
    .description('operations, of each application the oldest first')
    .option('--application <id|name>', 'only of this application (an id, or the name of one of its clients)')
    .option('--fund <uuid>', 'only of this fund', fundOption)
    .addOption(new Option('--status <status>', 'only these').choices(LOAN_STATUSES))
    .option('--limit <n>', 'at most so many', countOption, 1_000);
  withReportOptions(list, dependencies)
    .addHelpText(
      'after',
      '\nExamples:\n  receivables loan list --status active\n' +
        '  receivables loan list --fund 3f0c1e52-8a44-4b8e-9d64-0b7f6f1c2a10 -o csv --output loans.csv',
    )
    .action((options: ListOptions) =>
      listRows(dependencies, options, LOAN_COLUMNS, async function* (services) {
        const { status, limit } = options;
        const scope = await scopeOf(services, options);
        await services.loans.catchUp();
        await warnOfLeftOut('loan', services, dependencies);
        yield* services.loans.list({ ...scope, ...(status !== undefined && { status }), limit });
      }),
    );
};

/** Opens the services for one operation, shown as the interface shows it but without the borrower's name. */
const withLoan = async (
  dependencies: CliDependencies,
  code: string,
  { application }: OfOne,
  use: (shown: Shown) => Promise<void>,
): Promise<void> => {
  const services = await dependencies.open();
  try {
    const shown = await shownLoan(services, code, application);
    await warnOfLeftOut('loan', services, dependencies, (one) => one.code === code);
    await use(shown);
  } finally {
    await services.close();
  }
};

const shownLoan = async (
  services: CliServices,
  code: string,
  application: string | undefined,
): Promise<Shown> => {
  const applicationId =
    application === undefined
      ? await services.loans.applicationOf(code)
      : await applicationOf(services, application);
  await services.loans.catchUp();
  const shown = await services.loans.show(applicationId, code);
  if (shown === undefined) throw new NotAllowedError(`application ${applicationId} has no operation ${code}`);
  return { application_id: applicationId, ...shown };
};

const APPLICATION = [
  '--application <id|name>',
  'whose operation; needed when several applications use the code',
] as const;

const addShow = (loan: Command, dependencies: CliDependencies): void => {
  const show = loan
    .command('show')
    .description(
      'an operation with its installments, balances and documents; without the name of the borrower',
    )
    .argument('<code>', 'originator_proposal_code')
    .option(...APPLICATION);
  withReportOptions(show, dependencies)
    .addHelpText(
      'after',
      '\nIts whole history: receivables audit show.\n\nExample:\n  receivables loan show OP-2026-000123',
    )
    .action((code: string, options: OfOne) =>
      withLoan(dependencies, code, options, (shown) => showObject(dependencies, options, shown)),
    );
};

const addDocuments = (loan: Command, dependencies: CliDependencies): void => {
  const documents = loan
    .command('documents')
    .description('documents of an operation; their names are null once the borrower was forgotten')
    .argument('<code>', 'originator_proposal_code')
    .option(...APPLICATION);
  withReportOptions(documents, dependencies)
    .addHelpText('after', '\nExample:\n  receivables loan documents OP-2026-000123')
    .action((code: string, options: OfOne) =>
      listRows(dependencies, options, DOCUMENT_COLUMNS, async function* (services) {
        const shown = await shownLoan(services, code, options.application);
        yield* shown['documents'] as readonly Shown[];
      }),
    );
};
