import type { Command } from 'commander';
import type { CalendarDate } from '../../domain/shared/calendar-date.ts';
import type { CliDependencies } from './cli-services.ts';
import { printPosition } from './portfolio-output.ts';
import { dateOption, formatOption, fundOption, instantOption } from './report-options.ts';
import { deliver } from './report-output.ts';
import type { ReportFormat } from './report-output.ts';

interface PortfolioOptions {
  readonly fund: string;
  readonly asOf: CalendarDate;
  readonly knownAt?: string;
  readonly format: ReportFormat;
  readonly output?: string;
}

const FUND = '3f0c1e52-8a44-4b8e-9d64-0b7f6f1c2a10';

/** `portfolio`. */
export const addPortfolioCommand = (program: Command, dependencies: CliDependencies): void => {
  program
    .command('portfolio')
    .description('what a fund held at the end of a day, and what it got until then')
    .requiredOption('--fund <uuid>', 'whose position', fundOption)
    .requiredOption('--as-of <date>', 'the day, such as 2026-06-30', dateOption)
    .option('--known-at <time>', 'leave out what was recorded later (default: now)', instantOption)
    .addOption(formatOption())
    .option('--output <file>', 'write the answer to a file')
    .addHelpText(
      'after',
      '\nOpen and overdue installments with their face value and their present value on the curve, overdue by age,\n' +
        'and money that came in on the day and up to it.\n\nExamples:\n' +
        `  receivables portfolio --fund ${FUND} --as-of 2026-06-30\n` +
        `  receivables portfolio --fund ${FUND} --as-of 2026-06-30 --known-at 2026-07-01T12:00:00Z --format json`,
    )
    .action(async (options: PortfolioOptions) => {
      const { fund: fundId, asOf: date, knownAt, format, output } = options;
      const services = await dependencies.open();
      const { fundSide } = services;
      try {
        await fundSide.catchUp('portfolio');
        const request = { fundId, date, ...(knownAt !== undefined && { knownAt }) };
        const position = await fundSide.portfolio.execute(request);
        await deliver(dependencies, printPosition(position, format), output);
      } finally {
        await services.close();
      }
    });
};
