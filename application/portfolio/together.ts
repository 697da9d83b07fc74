import type { AnalysedPortfolio } from './analysis.ts';
import { LARGEST } from './composition.ts';
import type { Part } from './composition.ts';
import type { FundPosition, Held } from './position.ts';

const byValue = (one: { readonly presentValue: number }, other: { readonly presentValue: number }): number =>
  other.presentValue - one.presentValue;

const sumOf = <Of>(all: readonly Of[], of: (one: Of) => number): number =>
  all.reduce((sum, one) => sum + of(one), 0);

const added = (all: readonly Held[]): Held => ({
  installments: sumOf(all, ({ installments }) => installments),
  faceValue: sumOf(all, ({ faceValue }) => faceValue),
  presentValue: sumOf(all, ({ presentValue }) => presentValue),
});

const parts = (all: readonly Part[]): readonly Part[] =>
  [...Map.groupBy(all, ({ name }) => name)]
    .map(([name, own]) => ({
      name,
      operations: sumOf(own, ({ operations }) => operations),
      presentValue: sumOf(own, ({ presentValue }) => presentValue),
    }))
    .toSorted(byValue);

const months = <Of extends { readonly month: string }>(
  all: readonly Of[],
  merged: (own: readonly Of[]) => Omit<Of, 'month'>,
): Of[] =>
  [...Map.groupBy(all, ({ month }) => month)]
    .map(([month, own]) => ({ month, ...merged(own) }) as Of)
    .toSorted((one, other) => (one.month < other.month ? -1 : 1));

const positions = (all: readonly FundPosition[]): FundPosition => {
  const [first] = all as readonly [FundPosition, ...FundPosition[]];
  const left = all.map(({ withoutPresentValue }) => withoutPresentValue);
  return {
    ...first,
    fundId: '',
    operations: sumOf(all, ({ operations }) => operations),
    open: added(all.map(({ open }) => open)),
    overdue: added(all.map(({ overdue }) => overdue)),
    withoutPresentValue: {
      operations: sumOf(left, ({ operations }) => operations),
      faceValue: sumOf(left, ({ faceValue }) => faceValue),
      named: left.flatMap(({ named }) => named).slice(0, LARGEST),
    },
    buckets: first.buckets.map((bucket, i) => ({
      ...bucket,
      ...added(all.map(({ buckets }) => buckets[i]!)),
    })),
    flows: first.flows.map(({ flow }, i) => {
      const [onDay, toDate] = (['onDay', 'toDate'] as const).map((when) => {
        const own = all.map(({ flows }) => flows[i]![when]);
        return {
          payments: sumOf(own, ({ payments }) => payments),
          installments: sumOf(own, ({ installments }) => installments),
          amount: sumOf(own, ({ amount }) => amount),
        };
      });
      return { flow, onDay: onDay!, toDate: toDate! };
    }),
  };
};

/**
 * Several funds on the same day as if they were one. A borrower is told apart within a fund alone, so one who owes to two of them stands there
 * twice. @param all at least one
 */
export const together = (all: readonly AnalysedPortfolio[]): AnalysedPortfolio => {
  const borrowers = all.flatMap(({ concentration }) => concentration.borrowers).toSorted(byValue);
  const [named, rest] = [borrowers.slice(0, LARGEST), borrowers.slice(LARGEST)];
  const others = all.map(({ concentration }) => concentration.others);
  const unknown = all.map(({ concentration }) => concentration.unknown);
  return {
    position: positions(all.map(({ position }) => position)),
    received: months(
      all.flatMap(({ received }) => received),
      (own) => ({ amount: sumOf(own, ({ amount }) => amount) }),
    ),
    due: months(
      all.flatMap(({ due }) => due),
      (own) => ({ ...added(own), overdueFaceValue: sumOf(own, ({ overdueFaceValue }) => overdueFaceValue) }),
    ),
    applications: parts(all.flatMap(({ applications }) => applications)),
    states: parts(all.flatMap(({ states }) => states)),
    products: parts(all.flatMap(({ products }) => products)),
    concentration: {
      borrowers: named,
      others: {
        borrowers: rest.length + sumOf(others, ({ borrowers: count }) => count),
        operations: sumOf([...rest, ...others], ({ operations }) => operations),
        presentValue: sumOf([...rest, ...others], ({ presentValue }) => presentValue),
      },
      unknown: {
        operations: sumOf(unknown, ({ operations }) => operations),
        presentValue: sumOf(unknown, ({ presentValue }) => presentValue),
      },
    },
    largest: all
      .flatMap(({ largest }) => largest)
      .toSorted(byValue)
      .slice(0, LARGEST),
  };
};
