import type { AnalysedPortfolio } from '../../../../application/portfolio/analyse-portfolio.ts';
import { percent } from '../../format.ts';
import { html } from '../../html.ts';
import type { View } from '../../html.ts';
import type { InLanguages, Language } from '../../language.ts';
import type { PORTFOLIO } from './texts.ts';

export interface Shown {
  readonly language: Language;
  readonly analysed: AnalysedPortfolio;
  /** Of another day. */
  readonly against: AnalysedPortfolio | undefined;
  /** Names of applications' clients. */
  readonly names: ReadonlyMap<string, string>;
  /** Masked, by the stream of a borrower's largest operation; null where nothing opens it any more. */
  readonly documents: ReadonlyMap<string, string | null>;
  /** Where the files are. */
  readonly exports: Readonly<Record<'position' | 'composition', string>>;
}
export type Texts = (typeof PORTFOLIO)[keyof InLanguages<unknown>];

export const shareOf = (part: number, whole: number): string =>
  whole === 0 ? percent(0) : percent(part / whole);

/** With its sign, so that it reads as a movement. */
export const movement = (value: number, write: (value: number) => string): string =>
  `${value < 0 ? '−' : '+'}${write(Math.abs(value))}`;

/** A column, and whether it holds numbers. */
export type Head = readonly [string, 'number'?];

/** A table in a place of its own, since it may be wider than the window. */
export const tableOf = (
  label: string,
  heads: readonly Head[],
  rows: readonly (readonly View[])[],
): View => html`
  <div class="overflow-auto" tabindex="0" role="region" aria-label=${label}>
    <table class="dense">
      <thead>
        <tr>
          ${heads.map(([name, kind]) => html`<th scope="col" class=${kind}>${name}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (cells) =>
            html`<tr>
              ${cells.map((cell, i) => html`<td class=${heads[i]?.[1]}>${cell}</td>`)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>
`;
