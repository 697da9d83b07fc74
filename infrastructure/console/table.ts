import { html } from './html.ts';
import type { View } from './html.ts';

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
  /** Rows of another kind, below the others. */
  readonly below?: View;
  /** Instead of a table without rows. @see empty */
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
