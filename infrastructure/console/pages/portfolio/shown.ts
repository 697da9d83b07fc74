import type { AnalysedPortfolio } from '../../../../application/portfolio/analysis.ts';
import { percent } from '../../format.ts';
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
