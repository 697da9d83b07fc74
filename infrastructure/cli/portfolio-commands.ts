import { FUND } from './cli-command.ts';
import type { CliCommand } from './cli-command.ts';
import type { CalendarDate } from '../../domain/shared/calendar-date.ts';
import { printPosition } from '../presenting/position.ts';
import { warnOfLeftOut, warnOfUnvalued } from './left-out.ts';
import { dateOption, instantOption } from './options.ts';
import { FUND_OPTION, fundOf } from './scope.ts';

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
