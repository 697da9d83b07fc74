import type { AnalysedPortfolio } from '../../../../application/portfolio/composition.ts';
import { amount, count, date, statusName, daysText, percent } from '../../format.ts';
import { html, section, pictureOf, tableView } from '../../html.ts';
import type { View, Column } from '../../html.ts';
import { words } from '../words.ts';
import { texts } from './texts.ts';
import { operationLink } from '../../paths.ts';
import type { HeldPart } from '../../../../application/portfolio/held.ts';
import { OVERDUE_BUCKETS } from '../../../../application/portfolio/position.ts';
import type { FundPosition } from '../../../../application/portfolio/position.ts';

export interface Shown {
  readonly analysed: AnalysedPortfolio;
  readonly against: AnalysedPortfolio | undefined;
  readonly names: ReadonlyMap<string, string>;
  /** Masked, by the stream of a borrower's largest operation; null where nothing opens it any more. */
  readonly documents: ReadonlyMap<string, string | null>;
  readonly drill: (part: HeldPart) => string;
  readonly byFund: readonly {
    readonly name: string;
    readonly path: string;
    readonly position: FundPosition;
  }[];
  readonly exports: Readonly<Record<'position' | 'composition', string>> | undefined;
}

export const shareOf = (part: number, whole: number): string =>
  whole === 0 ? percent(0) : percent(part / whole);

/** With its sign, so that it reads as a movement. */
export const movement = (value: number, write: (value: number) => string): string =>
  `${value < 0 ? '−' : '+'}${write(Math.abs(value))}`;

export const daysOf = (from: number): string => {
  const to = OVERDUE_BUCKETS.find((bucket) => bucket.from === from)?.to ?? null;
  return daysText({ from, to });
};

export const monthName = (month: string): string => `${month.slice(5)}/${month.slice(0, 4)}`;

const DRAWN = 12;

interface Sort {
  readonly id: string;
  readonly title: string;
  readonly says: string;
  readonly head: string;
  readonly by: 'application' | 'state' | 'product';
  readonly nameOf: (name: string) => string;
}

const sortsOf = ({ names }: Shown): readonly Sort[] => [
  {
    id: 'composition-title',
    title: texts.composition,
    says: texts.compositionSays,
    head: words.application,
    by: 'application',
    nameOf: (name) => names.get(name) ?? name,
  },
  {
    id: 'states-title',
    title: texts.byState,
    says: texts.byStateSays,
    head: texts.state,
    by: 'state',
    nameOf: (name) => statusName(name),
  },
  {
    id: 'products-title',
    title: texts.byProduct,
    says: texts.byProductSays,
    head: words.product,
    by: 'product',
    nameOf: (name) => name,
  },
];

/** What is held on either day, the largest on the day that is asked for first. */
const namesIn = (now: AnalysedPortfolio, before: AnalysedPortfolio | undefined, by: Sort['by']) => [
  ...new Set([...now[`${by}s`], ...(before?.[`${by}s`] ?? [])].map(({ name }) => name)),
];

const composition = (sort: Sort, { analysed, against, drill }: Shown): View => {
  const whole = analysed.position.open.presentValue;
  const [parts, earlier] = [analysed, against].map(
    (one) => new Map(one?.[`${sort.by}s`].map((part) => [part.name, part])),
  );
  const rows = namesIn(analysed, against, sort.by).map((name) => ({
    name: name === undefined ? texts.unknown : sort.nameOf(name),
    path: drill({ by: sort.by, value: name }),
    operations: parts!.get(name)?.operations ?? 0,
    presentValue: parts!.get(name)?.presentValue ?? 0,
    before: earlier!.get(name)?.presentValue ?? 0,
  }));
  const drawn = rows.slice(0, DRAWN);
  const values = drawn.map(({ presentValue }) => presentValue);
  const series = [{ name: texts.presentValue, meaning: 'one' as const, values }];
  const columns: readonly Column<(typeof rows)[number]>[] = [
    [
      sort.head,
      ({ name, path, operations }) => (operations === 0 ? name : html`<a href=${path}>${name}</a>`),
    ],
    [texts.operations, ({ operations }) => count(operations), 'number'],
    [texts.presentValue, ({ presentValue }) => amount(presentValue), 'number'],
    [texts.share, ({ presentValue }) => shareOf(presentValue, whole), 'number'],
  ];
  const compared: typeof columns = against
    ? [
        [date(against.position.date), ({ before }) => amount(before), 'number'],
        [words.difference, ({ presentValue, before }) => movement(presentValue - before, amount), 'number'],
      ]
    : [];
  return section(
    sort.id,
    sort.title,
    html`${
      rows.length > 1 &&
      pictureOf(
        {
          lying: true,
          unit: 'cents',
          labels: drawn.map(({ name }) => name),
          links: drawn.map(({ path }) => path),
          series,
        },
        sort.says,
      )
    }
    ${tableView({ label: sort.title, dense: true }, [...columns, ...compared], rows)}`,
  );
};

export const compositions = (shown: Shown): readonly View[] =>
  sortsOf(shown).map((sort) => composition(sort, shown));

const TEN = 10;

interface Valued {
  readonly presentValue: number;
}

const sumOf = (some: readonly Valued[]): number =>
  some.reduce((sum, { presentValue }) => sum + presentValue, 0);

const sharesOf = ({ position }: AnalysedPortfolio, largest: readonly Valued[]): readonly [string, string] => {
  const whole = position.open.presentValue;
  return [shareOf(sumOf(largest.slice(0, 1)), whole), shareOf(sumOf(largest.slice(0, TEN)), whole)];
};

const saying = (
  { analysed, against }: Shown,
  largestOf: (one: AnalysedPortfolio) => readonly Valued[],
): View => {
  const now = texts.concentrationSays(...sharesOf(analysed, largestOf(analysed)));
  const then =
    against && texts.concentrationThen(date(against.position.date), ...sharesOf(against, largestOf(against)));
  return html`<p>${then === undefined ? now : `${now} ${then}`}</p>`;
};

const borrowers = (shown: Shown): View => {
  const { analysed, documents } = shown;
  const { borrowers: largest, others, unknown } = analysed.concentration;
  const whole = analysed.position.open.presentValue;
  const nameOf = (stream: string): string => documents.get(stream) ?? words.erased;
  const upTo = (rank: number | undefined): string =>
    rank === undefined ? '' : shareOf(sumOf(largest.slice(0, rank)), whole);
  const rest = [
    { name: texts.others(count(others.borrowers)), ...others },
    { name: texts.forgotten, ...unknown },
  ].filter(({ operations }) => operations > 0);
  const drawn = largest.slice(0, TEN);
  const further = [
    {
      name: texts.others(count(others.borrowers + largest.length - drawn.length)),
      all: [...largest.slice(TEN), others],
    },
    { name: texts.forgotten, all: [unknown] },
  ]
    .map(({ name, all }) => ({ name, presentValue: sumOf(all) }))
    .filter(({ presentValue }) => presentValue > 0);
  const series = [
    {
      name: texts.borrowersDrawn,
      meaning: 'one' as const,
      values: [...drawn.map(({ presentValue }) => presentValue), ...further.map(() => null)],
    },
    {
      name: texts.everyoneElse,
      meaning: 'other' as const,
      values: [...drawn.map(() => null), ...further.map(({ presentValue }) => presentValue)],
    },
  ];
  const labels = [
    ...drawn.map(({ largest: { stream } }, i) => `${i + 1}. ${nameOf(stream)}`),
    ...further.map(({ name }) => name),
  ];
  return section(
    'borrowers-title',
    texts.borrowers,
    html`${saying(shown, ({ concentration }) => concentration.borrowers)}
    ${pictureOf({ lying: true, stacked: true, unit: 'cents', labels, series }, texts.borrowersSay)}
    ${tableView(
      { label: texts.borrowers, dense: true },
      [
        ['#', ({ rank }) => rank ?? '', 'number'],
        [words.borrower, ({ name }) => name],
        [texts.operations, (one) => count(one.operations), 'number'],
        [texts.presentValue, ({ presentValue }) => amount(presentValue), 'number'],
        [texts.share, ({ presentValue }) => shareOf(presentValue, whole), 'number'],
        [texts.cumulative, ({ rank }) => upTo(rank), 'number'],
        [texts.largestOperation, (one) => one.largest && operationLink(one.largest)],
      ],
      [
        ...largest.map((one, i) => ({
          ...one,
          rank: i + 1,
          name: html`<span class="code">${nameOf(one.largest.stream)}</span>`,
        })),
        ...rest.map((one) => ({ ...one, rank: undefined, largest: undefined })),
      ],
    )}`,
  );
};

const operations = (shown: Shown): View => {
  const { analysed, names } = shown;
  const { largest, position } = analysed;
  const whole = position.open.presentValue;
  return section(
    'concentration-title',
    texts.concentration,
    html`${saying(shown, (one) => one.largest)}
    ${tableView(
      { label: texts.concentration, dense: true },
      [
        ['#', (_, i) => i + 1, 'number'],
        [words.operation, operationLink],
        [words.application, ({ applicationId }) => names.get(applicationId) ?? applicationId],
        [texts.presentValue, ({ presentValue }) => amount(presentValue), 'number'],
        [texts.share, ({ presentValue }) => shareOf(presentValue, whole), 'number'],
        [texts.cumulative, (_, i) => shareOf(sumOf(largest.slice(0, i + 1)), whole), 'number'],
      ],
      largest,
    )}`,
  );
};

export const concentrations = (shown: Shown): readonly View[] => [borrowers(shown), operations(shown)];
