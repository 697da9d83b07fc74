import type { AnalysedPortfolio } from '../../../../application/portfolio/composition.ts';
import type { HeldPart } from '../../../../application/portfolio/held.ts';
import { OVERDUE_BUCKETS } from '../../../../application/portfolio/position.ts';
import type { FundPosition } from '../../../../application/portfolio/position.ts';
import { daysText, percent } from '../../format.ts';

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
