import type { FundPosition, Held } from '../../application/portfolio/position.ts';
import { asColumns, jsonAmount, printedRows } from './columns.ts';
import type { Column, Printing, Rows } from './columns.ts';
import { fundFields, fundTitle } from './fund-names.ts';
import type { OfFund } from './fund-names.ts';
import type { AnalysedPortfolio } from '../../application/portfolio/composition.ts';
import { statusName } from './loan-columns.ts';

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

const COLUMNS = asColumns<Measure>([
  'measure',
  'days',
  'count',
  { name: 'face_value', amount: true },
  { name: 'present_value', amount: true },
  { name: 'amount', of: ({ amount: value }) => value, amount: true },
]);

/** What was held is counted in installments, what came in in payments. */
function* measuresOf(position: FundPosition): Generator<Measure> {
  const { operations, open, overdue, withoutPresentValue, buckets, flows } = position;
  yield { measure: 'operations', count: operations };
  const held = (measure: string, { installments: count, faceValue, presentValue }: Held): Measure => ({
    ...{ measure, count, faceValue, presentValue },
  });
  yield held('open', open);
  yield held('overdue', overdue);
  for (const bucket of buckets) yield { ...held('overdue', bucket), days: daysOf(bucket) };
  const { operations: leftOut, faceValue, named } = withoutPresentValue;
  if (leftOut > 0) {
    yield { measure: 'without_present_value', count: leftOut, faceValue };
    for (const { code } of named) yield { measure: `without_present_value: ${code}`, count: 1 };
  }
  for (const { flow, onDay, toDate } of flows) {
    yield { measure: `${flow}_on_day`, count: onDay.payments, amount: onDay.amount };
    yield { measure: `${flow}_to_date`, count: toDate.payments, amount: toDate.amount };
  }
}

async function* table(position: FundPosition, printing: Printing & OfFund): AsyncGenerator<string> {
  const { fundId, date, knownAt, operations } = position;
  yield `${fundTitle(fundId, printing)} at the end of ${date}, as known at ${knownAt}\n${operations} operations with open installments\n\n`;
  yield* printedRows(COLUMNS, measuresOf(position), printing);
}

const shownHeld = ({ installments, faceValue, presentValue }: Held): object => ({
  installments,
  face_value: jsonAmount(faceValue),
  present_value: jsonAmount(presentValue),
});

const shownSum = ({
  payments,
  installments,
  amount: value,
}: FundPosition['flows'][number]['onDay']): object => ({
  payments,
  installments,
  amount: jsonAmount(value),
});

const shown = (position: FundPosition, printing: OfFund): object => ({
  ...fundFields(position.fundId, printing),
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
  ...(position.withoutPresentValue.operations > 0 && {
    without_present_value: {
      operations: position.withoutPresentValue.operations,
      face_value: jsonAmount(position.withoutPresentValue.faceValue),
      named: position.withoutPresentValue.named.map(({ applicationId, code }) => ({
        application_id: applicationId,
        originator_proposal_code: code,
      })),
    },
  }),
  ...Object.fromEntries(
    position.flows.map(({ flow, onDay, toDate }) => [
      flow,
      { on_day: shownSum(onDay), to_date: shownSum(toDate) },
    ]),
  ),
});

export const printPosition = (position: FundPosition, printing: Printing & OfFund): Rows<string> => {
  switch (printing.format) {
    case 'table':
      return table(position, printing);
    case 'csv':
      return printedRows(COLUMNS, measuresOf(position), printing);
    case 'json':
      return [`${JSON.stringify(shown(position, printing))}\n`];
  }
};

interface Line {
  readonly by: 'application' | 'state' | 'product' | 'borrower' | 'operation';
  /** From 1, where the largest are told. */
  readonly rank?: number;
  readonly name: string;
  readonly operations: number;
  readonly presentValue: number;
  /** The largest operation of a borrower, or the operation itself. */
  readonly applicationId?: string;
  readonly code?: string;
}

const columnsFor = (whole: number): readonly Column<Line>[] => [
  { name: 'by', of: ({ by }) => by },
  { name: 'rank', of: ({ rank }) => rank },
  {
    name: 'name',
    of: ({ name }) => name,
    brazilian: ({ by, name }) => (by === 'state' ? statusName(name, 'pt-BR') : name),
  },
  { name: 'operations', of: ({ operations }) => operations },
  { name: 'present_value', of: ({ presentValue }) => presentValue, amount: true },
  {
    name: 'share',
    of: ({ presentValue }) => JSON.rawJSON((whole === 0 ? 0 : presentValue / whole).toFixed(6)),
  },
  { name: 'application_id', of: ({ applicationId }) => applicationId },
  { name: 'originator_proposal_code', of: ({ code }) => code },
];

const UNKNOWN = 'unknown';

function* linesOf(
  { applications, states, products, concentration, largest }: AnalysedPortfolio,
  documents: ReadonlyMap<string, string | null>,
): Generator<Line> {
  const parts = { application: applications, state: states, product: products };
  for (const by of ['application', 'state', 'product'] as const)
    for (const { name = UNKNOWN, operations, presentValue } of parts[by])
      yield { by, name, operations, presentValue };
  const { borrowers, others, unknown } = concentration;
  for (const [i, { operations, presentValue, largest: own }] of borrowers.entries()) {
    const { applicationId, code } = own;
    const name = documents.get(own.stream) ?? UNKNOWN;
    yield { by: 'borrower', rank: i + 1, name, operations, presentValue, applicationId, code };
  }
  const rest = [
    { name: 'others', ...others },
    { name: UNKNOWN, ...unknown },
  ];
  for (const { name, operations, presentValue } of rest)
    if (operations > 0) yield { by: 'borrower', name, operations, presentValue };
  for (const [i, { applicationId, code, presentValue }] of largest.entries())
    yield { by: 'operation', rank: i + 1, name: code, operations: 1, presentValue, applicationId, code };
}

/**
 * What a position is made of, as text, in pieces.
 * @param documents masked, by the stream of a borrower's largest operation
 */
export const printComposition = (
  analysed: AnalysedPortfolio,
  documents: ReadonlyMap<string, string | null>,
  printing: Printing,
): Rows<string> =>
  printedRows(columnsFor(analysed.position.open.presentValue), linesOf(analysed, documents), printing);
