import { html } from './html.ts';
import type { View } from './html.ts';

/** What a colour stands for, the same in every picture; `console.css` says which colour it is, in light and in dark. */
type Meaning = 'paid' | 'prepaid' | 'open' | 'overdue' | 'gone' | 'one' | 'other';

interface Picture {
  readonly kind: 'bar' | 'line';
  /** One to each value of a series. */
  readonly labels: readonly string[];
  /** Where a bar leads to; the table beside it has the same links. */
  readonly links?: readonly string[];
  readonly series: readonly {
    readonly name: string;
    readonly meaning: Meaning;
    readonly values: readonly (number | null)[];
  }[];
  readonly stacked?: boolean;
  /** Bars lie: for labels that are long. */
  readonly lying?: boolean;
  /** What the values are; written as `format.ts` writes them. */
  readonly unit: 'cents' | 'milliseconds';
}

/**
 * A picture, drawn by `assets/pictures.js`. What it shows stands in a table beside it as well: readers who do not see it miss nothing.
 * @param says in a sentence, for those readers
 */
export const pictureOf = (picture: Picture, says: string): View => html`
  <div class="picture">
    <canvas role="img" aria-label=${says} data-picture=${JSON.stringify(picture)}></canvas>
  </div>
`;
