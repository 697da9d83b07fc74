import htm from 'htm';
import { Fragment, h } from 'preact';
import type { ComponentChildren } from 'preact';
import { renderToString } from 'preact-render-to-string';
import type { DeskOutcome } from '../../domain/desk/line.ts';
import { hasEnded, isAwaited, isShownStatus } from '../../domain/loan/statuses.ts';
import { statusName } from './format.ts';

/** What a view is made of. Text in it is escaped when it is written out; there is no way around that. */
export type View = ComponentChildren;

/** html`<p class=${name}>${text}</p>`. Holes are text, attributes, lists, or views; `...${}` takes several attributes. */
export const html: (strings: TemplateStringsArray, ...values: readonly unknown[]) => View = htm.bind(h);

export const written = (shown: View): string => renderToString(h(Fragment, null, shown));

/** Names with their values; what is not there is left out, its name too. */
export const facts = (
  all: readonly (readonly [name: string, value: View] | false | undefined)[],
  look = 'facts',
): View =>
  html`<dl class=${look}>
    ${all.map(
      (one) =>
        one &&
        html`<div>
          <dt>${one[0]}</dt>
          <dd>${one[1]}</dd>
        </div>`,
    )}
  </dl>`;

export const section = (id: string, title: View, body: View): View =>
  html`<section aria-labelledby=${id}>
    <h2 id=${id}>${title}</h2>
    ${body}
  </section>`;

export const tile = (name: string, value: View, note?: View): View =>
  html`<article>
    <small>${name}</small>
    <p>${value}</p>
    ${note && html`<small>${note}</small>`}
  </article>`;

/** Stands where nothing is. @param comes what will be there, or what to do for it */
export const empty = (says: View, comes?: View): View =>
  html`<div class="empty">
    <p>${says}</p>
    ${comes && html`<p>${comes}</p>`}
  </div>`;

/** What the colour of a badge stands for. Its word says the same. */
export type Meaning = 'good' | 'bad' | 'warn' | 'waits' | 'quiet';

export const badge = (meaning: Meaning, text: View): View =>
  html`<span class=${`badge ${meaning}`}>${text}</span>`;

const meaningOf = (status: string): Meaning => {
  if (status === 'reserved') return 'good';
  if (status === 'rejected') return 'bad';
  if (!isShownStatus(status) || hasEnded(status)) return 'quiet';
  return isAwaited(status) ? 'waits' : 'good';
};

export const statusBadge = (status: string): View => badge(meaningOf(status), statusName(status));

const OUTCOMES: Readonly<Record<DeskOutcome, Meaning>> = {
  done: 'quiet',
  applied: 'good',
  already_applied: 'quiet',
  awaiting_confirmation: 'waits',
  refused: 'bad',
  failed: 'bad',
};

export const outcomeBadge = (outcome: DeskOutcome, text: string): View => badge(OUTCOMES[outcome], text);

/**
 * A column: its title, what a cell shows of a row, and how cells look; those of numbers stand to the right, with their title, and
 * dates are never broken.
 */
export type Column<Row> = readonly [
  title: View,
  cell: (row: Row, place: number) => View,
  look?: 'number' | 'number typed' | 'date' | 'code' | 'wide' | 'wide code' | undefined,
  /** The rows are in its order. */
  sorted?: 'ascending' | 'descending' | undefined,
];

export const rowsView = <Row>(columns: readonly Column<Row>[], rows: readonly Row[]): View =>
  rows.map(
    (row, place) =>
      html`<tr>
        ${columns.map(([, cell, look]) => html`<td class=${look}>${cell(row, place)}</td>`)}
      </tr>`,
  );

const headOf = <Row>([title, , look, sorted]: Column<Row>): View =>
  html`<th scope="col" class=${look?.startsWith('number') ? 'number' : undefined} aria-sort=${sorted}>
    ${title}
  </th>`;

interface Place {
  readonly label?: string;
  /** Id of the title that names it, instead of a label. */
  readonly titledBy?: string;
  readonly dense?: true;
  readonly below?: View;
  readonly empty?: View;
}

/** A table in a place of its own, since it may be wider than the window. */
export const tableView = <Row>(
  { label, titledBy, dense, below, empty }: Place,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
): View =>
  rows.length === 0 && empty !== undefined
    ? empty
    : html`
        <div class="overflow-auto" tabindex="0" role="group" aria-label=${label} aria-labelledby=${titledBy}>
          <table class=${dense && 'dense'}>
            <thead>
              <tr>
                ${columns.map(headOf)}
              </tr>
            </thead>
            <tbody>
              ${[rowsView(columns, rows), below]}
            </tbody>
          </table>
        </div>
      `;

/** What a colour stands for, the same in every picture; `console.css` says which colour it is, in light and in dark. */
type Colour = 'paid' | 'prepaid' | 'open' | 'overdue' | 'gone' | 'one' | 'other';

/** Bars. */
interface Picture {
  readonly labels: readonly string[];
  /** Where a bar leads to; the table beside it has the same links. */
  readonly links?: readonly string[];
  readonly series: readonly {
    readonly name: string;
    readonly meaning: Colour;
    readonly values: readonly (number | null)[];
  }[];
  readonly stacked?: boolean;
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
