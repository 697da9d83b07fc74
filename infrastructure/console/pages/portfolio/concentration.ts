import type { AnalysedPortfolio } from '../../../../application/portfolio/analyse-portfolio.ts';
import { amount, count, date } from '../../format.ts';
import { html } from '../../html.ts';
import type { View } from '../../html.ts';
import { operationPath } from '../../names.ts';
import { pictureOf } from '../../picture.ts';
import { WORDS } from '../words.ts';
import { shareOf, tableOf } from './tables.ts';
import type { Shown, Texts } from './tables.ts';

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
  texts: Texts,
  largestOf: (one: AnalysedPortfolio) => readonly Valued[],
): View => {
  const now = texts.concentrationSays(...sharesOf(analysed, largestOf(analysed)));
  const then =
    against && texts.concentrationThen(date(against.position.date), ...sharesOf(against, largestOf(against)));
  return html`<p>${then === undefined ? now : `${now} ${then}`}</p>`;
};

const borrowers = (shown: Shown, texts: Texts): View => {
  const { analysed, documents } = shown;
  const { borrowers: largest, others, unknown } = analysed.concentration;
  const whole = analysed.position.open.presentValue;
  const nameOf = (stream: string): string => documents.get(stream) ?? texts.erased;
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
  return html`
    <section aria-labelledby="borrowers-title">
      <h2 id="borrowers-title">${texts.borrowers}</h2>
      ${saying(shown, texts, ({ concentration }) => concentration.borrowers)}
      ${pictureOf({ kind: 'bar', lying: true, stacked: true, unit: 'cents', labels, series }, texts.borrowersSay)}
      ${tableOf(
        texts.borrowers,
        [
          ['#', 'number'],
          [texts.borrower],
          [texts.operations, 'number'],
          [texts.presentValue, 'number'],
          [texts.share, 'number'],
          [texts.cumulative, 'number'],
          [texts.largestOperation],
        ],
        [
          ...largest.map(({ operations, presentValue, largest: own }, i) => [
            i + 1,
            html`<span class="code">${nameOf(own.stream)}</span>`,
            count(operations),
            amount(presentValue),
            shareOf(presentValue, whole),
            shareOf(sumOf(largest.slice(0, i + 1)), whole),
            html`<a class="code" href=${operationPath(own.applicationId, own.code)}>${own.code}</a>`,
          ]),
          ...rest.map(({ name, operations, presentValue }) => [
            '',
            name,
            count(operations),
            amount(presentValue),
            shareOf(presentValue, whole),
            '',
            '',
          ]),
        ],
      )}
    </section>
  `;
};

const operations = (shown: Shown, texts: Texts): View => {
  const { analysed, names, language } = shown;
  const { largest, position } = analysed;
  const whole = position.open.presentValue;
  return html`
    <section aria-labelledby="concentration-title">
      <h2 id="concentration-title">${texts.concentration}</h2>
      ${saying(shown, texts, (one) => one.largest)}
      ${tableOf(
        texts.concentration,
        [
          ['#', 'number'],
          [WORDS[language].operation],
          [texts.application],
          [texts.presentValue, 'number'],
          [texts.share, 'number'],
          [texts.cumulative, 'number'],
        ],
        largest.map(({ applicationId, code, presentValue }, i) => [
          i + 1,
          html`<a class="code" href=${operationPath(applicationId, code)}>${code}</a>`,
          names.get(applicationId) ?? applicationId,
          amount(presentValue),
          shareOf(presentValue, whole),
          shareOf(sumOf(largest.slice(0, i + 1)), whole),
        ]),
      )}
    </section>
  `;
};

/** On whom, and on what, a position depends. */
export const concentrations = (shown: Shown, texts: Texts): readonly View[] => [
  borrowers(shown, texts),
  operations(shown, texts),
];
