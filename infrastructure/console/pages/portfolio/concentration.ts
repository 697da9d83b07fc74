import type { AnalysedPortfolio } from '../../../../application/portfolio/composition.ts';
import { amount, count, date } from '../../format.ts';
import { html, section, pictureOf, tableView } from '../../html.ts';
import type { View } from '../../html.ts';
import { operationLink } from '../../paths.ts';
import { words } from '../words.ts';
import { shareOf } from './shown.ts';
import type { Shown } from './shown.ts';
import { texts } from './texts.ts';

const TEN = 10;

interface Valued {
  readonly presentValue: number;
}

const sumOf = (some: readonly Valued[]): number =>
  some.reduce((sum, { presentValue }) => sum + presentValue, 0);

/** The share of the largest one, and of the ten largest. */
const sharesOf = ({ position }: AnalysedPortfolio, largest: readonly Valued[]): readonly [string, string] => {
  const whole = position.open.presentValue;
  return [shareOf(sumOf(largest.slice(0, 1)), whole), shareOf(sumOf(largest.slice(0, TEN)), whole)];
};

/** How concentrated it is, and how it was on the other day. */
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
    ${pictureOf({ kind: 'bar', lying: true, stacked: true, unit: 'cents', labels, series }, texts.borrowersSay)}
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

/** On whom, and on what, a position depends. */
export const concentrations = (shown: Shown): readonly View[] => [borrowers(shown), operations(shown)];
