import { amount } from '../../format.ts';
import { html } from '../../html.ts';
import type { Column, View } from '../../html.ts';
import { texts } from './texts.ts';

interface Tick {
  readonly value: string;
  readonly label: string;
  /** In cents. */
  readonly counts: number;
}

/** What a form takes along of each row, with a box for all of them. @param tickOf false where there is none */
export const tickColumn = <Row>(
  name: string,
  chooseAll: string,
  tickOf: (row: Row) => Tick | false,
): Column<Row> => [
  html`<input type="checkbox" aria-label=${chooseAll} data-choose-all />`,
  (row) => {
    const tick = tickOf(row);
    return (
      tick &&
      html`<input
        type="checkbox"
        name=${name}
        value=${tick.value}
        aria-label=${tick.label}
        data-row
        data-cents=${tick.counts}
      />`
    );
  },
];

export const tallyView = (): View =>
  html`<p class="tally" role="status">
    <span data-tally="count">0</span> ${texts.chosenOnes} · <span data-tally="sum">${amount(0)}</span>
    <span data-tally="lost" data-text=${texts.lost('{}')} hidden></span>
    <input type="hidden" name="chosen_count" value="" />
    <input type="hidden" name="chosen_sum" value="" />
  </p>`;

/** Undefined where no page has counted, without scripts. */
interface Tally {
  readonly count: number;
  /** In cents. */
  readonly sum: number;
}

export const tallyIn = (fields: URLSearchParams): Tally | undefined => {
  const [count, sum] = [fields.get('chosen_count'), fields.get('chosen_sum')];
  if (!count || !sum) return undefined;
  return { count: Number(count), sum: Number(sum) };
};

export const isTally = (tally: Tally | undefined, count: number, sum: number | undefined): boolean =>
  tally === undefined || (tally.count === count && tally.sum === sum);

export const tallyFields = (count: number, sum: number): View => [
  html`<input type="hidden" name="chosen_count" value=${count} />`,
  html`<input type="hidden" name="chosen_sum" value=${sum} />`,
];
