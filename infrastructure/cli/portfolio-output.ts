import { amount } from '../../application/publishing/amount.ts';
import type { Flow, FlowSum, FundPosition, Held } from '../../application/portfolio/position.ts';
import type { Cents } from '../../domain/shared/money.ts';
import { csvOf, money, textTable } from './report-output.ts';
import type { CsvValue, ReportFormat } from './report-output.ts';

type Bounds = Pick<FundPosition['buckets'][number], 'from' | 'to'>;

const daysOf = ({ from, to }: Bounds): string => (to === null ? `${from}+` : `${from}-${to}`);
const json = (cents: number) => amount(cents as Cents);

const heldRow = (name: string, { installments, faceValue, presentValue }: Held): readonly string[] => [
  name,
  String(installments),
  money(faceValue),
  money(presentValue),
];

const flowRow = ({ flow, onDay, toDate }: Flow): readonly string[] => [
  flow,
  ...[onDay, toDate].flatMap(({ payments, installments, amount: value }) => [
    String(payments),
    String(installments),
    money(value),
  ]),
];

function* table(position: FundPosition): Generator<string> {
  const { fundId, date, knownAt, operations, open, overdue, buckets, flows } = position;
  yield `Fund ${fundId} at the end of ${date}, as known at ${knownAt}\n${operations} operations with open installments\n\n`;
  yield textTable(
    ['position', 'installments', 'face value', 'present value'],
    [
      heldRow('open', open),
      heldRow('overdue', overdue),
      ...buckets.map((bucket) => heldRow(`  ${daysOf(bucket)} days`, bucket)),
    ],
    [1, 2, 3],
  );
  const titles = ['payments', 'installments', 'amount'];
  yield '\n';
  yield textTable(
    ['flow', ...titles.map((title) => `${title} on the day`), ...titles.map((title) => `${title} to date`)],
    flows.map(flowRow),
    [1, 2, 3, 4, 5, 6],
  );
}

function* measures({
  operations,
  open,
  overdue,
  buckets,
  flows,
}: FundPosition): Generator<readonly CsvValue[]> {
  yield ['operations', '', operations, '', '', ''];
  const held = (measure: string, days: string, one: Held): readonly CsvValue[] => [
    measure,
    days,
    one.installments,
    money(one.faceValue),
    money(one.presentValue),
    '',
  ];
  yield held('open', '', open);
  yield held('overdue', '', overdue);
  for (const bucket of buckets) yield held('overdue', daysOf(bucket), bucket);
  for (const { flow, onDay, toDate } of flows) {
    yield [`${flow}_on_day`, '', onDay.payments, '', '', money(onDay.amount)];
    yield [`${flow}_to_date`, '', toDate.payments, '', '', money(toDate.amount)];
  }
}

const shownHeld = ({ installments, faceValue, presentValue }: Held): object => ({
  installments,
  face_value: json(faceValue),
  present_value: json(presentValue),
});

const shownSum = ({ payments, installments, amount: value }: FlowSum): object => ({
  payments,
  installments,
  amount: json(value),
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
export const printPosition = (position: FundPosition, format: ReportFormat): Iterable<string> => {
  switch (format) {
    case 'table':
      return table(position);
    case 'csv':
      return csvOf(['measure', 'days', 'count', 'face_value', 'present_value', 'amount'], measures(position));
    case 'json':
      return [`${JSON.stringify(shown(position))}\n`];
  }
};
