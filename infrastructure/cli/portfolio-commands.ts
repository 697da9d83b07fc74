import type { Command } from 'commander';
import type { FlowSum, FundPosition, Held } from '../../application/portfolio/show-portfolio.ts';
import type { CalendarDate } from '../../domain/shared/calendar-date.ts';
import { jsonAmount, printedRows } from './columns.ts';
import type { Column, Printing, Rows } from './columns.ts';
import type { CliDependencies } from './command-line.ts';
import { warnOfLeftOut } from './left-out.ts';
import { dateOption, fundOption, instantOption } from './report-options.ts';
import { deliver, printingOf, withReportOptions } from './report-output.ts';
import type { ReportOptions } from './report-output.ts';
import { requireFund } from './scope.ts';

type Bounds = Pick<FundPosition['buckets'][number], 'from' | 'to'>;

const daysOf = ({ from, to }: Bounds): string => (to === null ? `${from}+` : `${from}-${to}`);

interface Measure {
  readonly measure: string;
  readonly days?: string;
  readonly count: number;
  readonly faceValue?: number;
  readonly presentValue?: number;
  readonly amount?: number;
}

const COLUMNS: readonly Column<Measure>[] = [
  { name: 'measure', of: ({ measure }) => measure },
  { name: 'days', of: ({ days }) => days },
  { name: 'count', of: ({ count }) => count },
  { name: 'face_value', of: ({ faceValue }) => faceValue, amount: true },
  { name: 'present_value', of: ({ presentValue }) => presentValue, amount: true },
  { name: 'amount', of: ({ amount: value }) => value, amount: true },
];

/** What was held is counted in installments, what came in in payments. */
function* measuresOf({ operations, open, overdue, buckets, flows }: FundPosition): Generator<Measure> {
  yield { measure: 'operations', count: operations };
  const held = (measure: string, { installments: count, faceValue, presentValue }: Held): Measure => ({
    ...{ measure, count, faceValue, presentValue },
  });
  yield held('open', open);
  yield held('overdue', overdue);
  for (const bucket of buckets) yield { ...held('overdue', bucket), days: daysOf(bucket) };
  for (const { flow, onDay, toDate } of flows) {
    yield { measure: `${flow}_on_day`, count: onDay.payments, amount: onDay.amount };
    yield { measure: `${flow}_to_date`, count: toDate.payments, amount: toDate.amount };
  }
}

async function* table(position: FundPosition, printing: Printing): AsyncGenerator<string> {
  const { fundId, date, knownAt, operations } = position;
  yield `Fund ${fundId} at the end of ${date}, as known at ${knownAt}\n${operations} operations with open installments\n\n`;
  yield* printedRows(COLUMNS, measuresOf(position), printing);
}

const shownHeld = ({ installments, faceValue, presentValue }: Held): object => ({
  installments,
  face_value: jsonAmount(faceValue),
  present_value: jsonAmount(presentValue),
});

const shownSum = ({ payments, installments, amount: value }: FlowSum): object => ({
  payments,
  installments,
  amount: jsonAmount(value),
});

const shown = (position: FundPosition): object => ({
  fund_id: position.fundId,
  as_of: position.date,
  known_at: position.knownAt,
  operations: position.operations,
  open: shownHeld(position.open),
  overdue: shownHeld(position.overdue),
  overdue_by_age: position.buckets.map((bucket) => ({
    from_days: bucket.from,
    to_days: bucket.to,
    ...shownHeld(bucket),
  })),
  ...Object.fromEntries(
    position.flows.map(({ flow, onDay, toDate }) => [
      flow,
      { on_day: shownSum(onDay), to_date: shownSum(toDate) },
    ]),
  ),
});

/** A position as text, in pieces. */
export const printPosition = (position: FundPosition, printing: Printing): Rows<string> => {
  switch (printing.format) {
    case 'table':
      return table(position, printing);
    case 'csv':
      return printedRows(COLUMNS, measuresOf(position), printing);
    case 'json':
      return [`${JSON.stringify(shown(position))}\n`];
  }
};

interface PortfolioOptions extends ReportOptions {
  readonly fund: string;
  readonly asOf?: CalendarDate;
  readonly knownAt?: string;
}

const FUND = '3f0c1e52-8a44-4b8e-9d64-0b7f6f1c2a10';

/** `portfolio`. */
export const addPortfolioCommand = (program: Command, dependencies: CliDependencies): void => {
  const portfolio = program
    .command('portfolio')
    .description('what a fund held at the end of a day, and what it got until then')
    .requiredOption('--fund <uuid>', 'whose position', fundOption)
    .option('--as-of <date>', 'the day, such as 2026-06-30 (default: today in Sao Paulo)', dateOption)
    .option('--known-at <time>', 'leave out what was recorded later (default: now)', instantOption);
  withReportOptions(portfolio, dependencies)
    .addHelpText(
      'after',
      '\nOpen and overdue installments with their face value and their present value on the curve, overdue by age,\n' +
        'and money that came in on the day and up to it.\n\nExamples:\n' +
        `  receivables portfolio --fund ${FUND}\n` +
        `  receivables portfolio --fund ${FUND} --as-of 2026-06-30 --known-at 2026-07-01T12:00:00Z -o json`,
    )
    .action(async (options: PortfolioOptions) => {
      const { fund: fundId, knownAt } = options;
      const services = await dependencies.open();
      const { fundSide } = services;
      try {
        await requireFund(services, fundId);
        await fundSide.catchUp('portfolio');
        await warnOfLeftOut('portfolio', services, dependencies);
        const date = options.asOf ?? fundSide.today();
        const request = { fundId, date, ...(knownAt !== undefined && { knownAt }) };
        const position = await fundSide.portfolio.execute(request);
        const printing = printingOf(dependencies, options);
        await deliver(dependencies, printPosition(position, printing), { ...options, ...printing });
      } finally {
        await services.close();
      }
    });
};
