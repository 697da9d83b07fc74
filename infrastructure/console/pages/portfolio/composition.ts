import { amount, count } from '../../format.ts';
import { html } from '../../html.ts';
import type { View } from '../../html.ts';
import { operationPath } from '../../names.ts';
import { pictureOf } from '../../picture.ts';
import { WORDS } from '../words.ts';
import { shareOf, tableOf } from './tables.ts';
import type { Shown, Texts } from './tables.ts';

const APPLICATIONS_DRAWN = 12;

export const composition = ({ analysed: { position, applications }, names }: Shown, texts: Texts): View => {
  const whole = position.open.presentValue;
  const nameOf = (applicationId: string): string => names.get(applicationId) ?? applicationId;
  const drawn = applications.slice(0, APPLICATIONS_DRAWN);
  return html`
    <section aria-labelledby="composition-title">
      <h2 id="composition-title">${texts.composition}</h2>
      ${
        applications.length > 1 &&
        pictureOf(
          {
            kind: 'bar',
            lying: true,
            unit: 'cents',
            labels: drawn.map(({ applicationId }) => nameOf(applicationId)),
            series: [
              {
                name: texts.presentValue,
                meaning: 'one',
                values: drawn.map(({ presentValue }) => presentValue),
              },
            ],
          },
          texts.compositionSays,
        )
      }
      ${tableOf(
        texts.composition,
        [
          [texts.application],
          [texts.operations, 'number'],
          [texts.presentValue, 'number'],
          [texts.share, 'number'],
        ],
        applications.map((one) => [
          nameOf(one.applicationId),
          count(one.operations),
          amount(one.presentValue),
          shareOf(one.presentValue, whole),
        ]),
      )}
    </section>
  `;
};

const TEN = 10;

export const concentration = (
  { analysed: { position, largest }, names, language }: Shown,
  texts: Texts,
): View => {
  const whole = position.open.presentValue;
  const upTo = (end: number): number =>
    largest.slice(0, end).reduce((sum, { presentValue }) => sum + presentValue, 0);
  return html`
    <section aria-labelledby="concentration-title">
      <h2 id="concentration-title">${texts.concentration}</h2>
      <p>${texts.concentrationSays(shareOf(upTo(1), whole), shareOf(upTo(TEN), whole))}</p>
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
        largest.map(({ applicationId, code = '', presentValue }, i) => [
          i + 1,
          html`<a class="code" href=${operationPath(applicationId, code)}>${code}</a>`,
          names.get(applicationId) ?? applicationId,
          amount(presentValue),
          shareOf(presentValue, whole),
          shareOf(upTo(i + 1), whole),
        ]),
      )}
    </section>
  `;
};
