import { InvalidArgumentError, Option } from 'commander';
import type { App } from '../../application/app.ts';
import type { Comparison } from '../../application/reconciliation/comparison.ts';
import {
  HIGHEST_TOLERANCE_CENTS,
  LONGEST_WINDOW_DAYS,
} from '../../application/reconciliation/match-rules.ts';
import {
  MOST_SKIPPED_LINES,
  STATEMENT_ENCODINGS,
  StatementError,
} from '../../application/reconciliation/statements.ts';
import type { StatementFormat } from '../../application/reconciliation/statements.ts';
import type { CalendarDate } from '../../domain/shared/calendar-date.ts';
import { printPosition } from '../presenting/position.ts';
import { printReconciliation } from '../presenting/reconciliation.ts';
import { FUND } from './cli-command.ts';
import type { CliCommand } from './cli-command.ts';
import { DifferencesFoundError, WrongUseError, whileRead } from './command-line.ts';
import { fileToRead, requireApart } from './files.ts';
import { warnOfLeftOut, warnOfUnvalued } from './left-out.ts';
import { dateOption, instantOption, FUND_OPTION, fundOf, numberOption } from './options.ts';

interface PortfolioOptions {
  readonly fund: string;
  readonly asOf?: CalendarDate;
  readonly knownAt?: string;
}

export const addPortfolioCommand = (program: CliCommand): void => {
  program
    .command('portfolio')
    .description('what a fund held at the end of a day, and what it got until then')
    .requiredOption(FUND_OPTION, 'whose position')
    .option('--as-of <date>', 'the day, such as 2026-06-30 (default: today in Sao Paulo)', dateOption)
    .option('--known-at <time>', 'leave out what was recorded later (default: now)', instantOption)
    .reporting()
    .told(
      'Open and overdue installments with their face value and their present value on the curve, overdue by age,\n' +
        'and money that came in on the day and up to it.',
      `portfolio --fund ${FUND}`,
      `portfolio --fund ${FUND} --as-of 2026-06-30 --known-at 2026-07-01T12:00:00Z -o json`,
    )
    .serving(async (services, { fund, asOf, knownAt }: PortfolioOptions, command: CliCommand) => {
      const fundId = await fundOf(services, fund);
      const position = await services.portfolio.show({ fundId, date: asOf, knownAt });
      await warnOfLeftOut(services, command.dependencies);
      warnOfUnvalued(position, command.dependencies);
      const fundName = (await services.funds.names()).get(fundId);
      await command.deliver((printing) => printPosition(position, { ...printing, fundName }));
    });
};

interface ReconcileOptions extends Omit<StatementFormat, 'skipLines'> {
  readonly fund: string;
  readonly from: CalendarDate;
  readonly to: CalendarDate;
  readonly statement: string;
  readonly skipLines: number;
  readonly window: number;
  readonly tolerance: number;
  readonly requireReference?: boolean;
  readonly withMatched?: boolean;
  readonly output?: string;
}

const OF_JUNE = `reconcile --fund ${FUND} --from 2026-06-01 --to 2026-06-30`;

export const addReconcileCommand = (program: CliCommand): void => {
  const command = program
    .command('reconcile')
    .description("compare a custodian's statement with the payments that were notified for a fund")
    .requiredOption(FUND_OPTION, 'whose payments')
    .requiredOption('--from <date>', 'first day of the period', dateOption)
    .requiredOption('--to <date>', 'last day of the period', dateOption)
    .requiredOption('--statement <file>', 'CSV file', fileToRead('--statement'));
  addStatementOptions(command)
    .reporting()
    .option('--window <days>', 'most days between the two dates', numberOption(LONGEST_WINDOW_DAYS), 3)
    .option('--tolerance <cents>', 'most cents between amounts', numberOption(HIGHEST_TOLERANCE_CENTS), 0)
    .option('--require-reference', 'never match by amount and date alone')
    .option('--with-matched', 'list what matched as well (csv and json)')
    .told(
      'Exit codes: 0 everything matched, 4 something differs or is missing, 2 wrong use or a statement that cannot be read;\n' +
        'nothing is printed then.',
      `${OF_JUNE} --statement june.csv`,
      `${OF_JUNE} --statement extrato.csv \\\n` +
        "    --delimiter ';' --decimal , --date-format dd/mm/yyyy --encoding latin1 \\\n" +
        '    --date-column Data --amount-column Valor --reference-column Documento -o csv --output differences.csv',
    )
    .refusing(({ from, to, statement, output }: ReconcileOptions) => {
      if (from > to) return '--from comes after --to';
      requireApart({ '--statement': statement, '--output': output });
      return undefined;
    })
    .serving(reconcile);
};

const addStatementOptions = (command: CliCommand): CliCommand =>
  command
    .option('--date-column <column>', 'its title, or its number from 1', 'date')
    .option('--amount-column <column>', 'its title, or its number from 1', 'amount')
    .option('--reference-column <column>', 'its title or number; - when there is none', 'reference')
    .option('--delimiter <character>', 'between columns', delimiterOption, ',')
    .addOption(new Option('--decimal <character>', 'before the cents').choices(['.', ',']).default('.'))
    .option('--date-format <pattern>', 'of yyyy or yy, mm and dd', dateFormatOption, 'yyyy-mm-dd')
    .addOption(new Option('--encoding <name>', 'of the file').choices(STATEMENT_ENCODINGS).default('utf8'))
    .option('--no-header', 'the first line is a movement already')
    .option('--skip-lines <n>', 'lines before the header', numberOption(MOST_SKIPPED_LINES), 0);

const delimiterOption = (text: string): string => {
  const character = text === '\\t' ? '\t' : text;
  if (character.length === 1) return character;
  throw new InvalidArgumentError('It must be one character, or \\t.');
};

const dateFormatOption = (text: string): string => {
  const parts = (text.toLowerCase().match(/yyyy|yy|mm|dd/g) ?? []).map((part) => part[0]).toSorted();
  if (parts.join('') === 'dmy') return text;
  throw new InvalidArgumentError('It must have a year, a month and a day, such as dd/mm/yyyy.');
};

const reconcile = async (services: App, options: ReconcileOptions, command: CliCommand): Promise<void> => {
  const fundId = await fundOf(services, options.fund);
  const result = await compare(services, { ...options, fundId }, command).catch((error: unknown): never => {
    throw error instanceof StatementError ? new WrongUseError(error.message, { cause: error }) : error;
  });
  await warnOfLeftOut(services, command.dependencies);
  const { withMatched = false } = options;
  const fundName = (await services.funds.names()).get(fundId);
  await whileRead(() =>
    command.deliver((printing) => printReconciliation(result, { ...printing, withMatched, fundName })),
  );
  if (!result.clean) throw new DifferencesFoundError('the statement and the notifications differ');
};

const compare = async (
  { reconciliation }: App,
  { fundId, from, to, statement, ...options }: ReconcileOptions & { readonly fundId: string },
  { dependencies }: CliCommand,
): Promise<Comparison> => {
  using progress = dependencies.startProgress(await reconciliation.chunksOf(statement));
  return await reconciliation.compare({
    ...{ fundId, from, to, statement },
    tolerances: {
      windowDays: options.window,
      toleranceCents: options.tolerance,
      requireReference: options.requireReference ?? false,
    },
    format: options,
    onChunk: () => progress.advance(),
  });
};
