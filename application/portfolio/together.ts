import { LARGEST, byValue, sumOfWorth } from './composition.ts';
import type { AnalysedPortfolio, Part } from './composition.ts';
import { sumOfFlows, sumOfHeld, summing } from './position.ts';
import type { FundPosition } from './position.ts';

const parts = (all: readonly Part[]): readonly Part[] =>
  [...Map.groupBy(all, ({ name }) => name)]
    .map(([name, own]) => ({ name, ...sumOfWorth(own) }))
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
    ...summing('operations')(all),
    open: sumOfHeld(all.map(({ open }) => open)),
    overdue: sumOfHeld(all.map(({ overdue }) => overdue)),
    withoutPresentValue: {
      ...summing('operations', 'faceValue')(left),
      named: left.flatMap(({ named }) => named).slice(0, LARGEST),
    },
    buckets: first.buckets.map((bucket, i) => ({
      ...bucket,
      ...sumOfHeld(all.map(({ buckets }) => buckets[i]!)),
    })),
    flows: first.flows.map(({ flow }, i) => {
      const own = all.map(({ flows }) => flows[i]!);
      return {
        flow,
        onDay: sumOfFlows(own.map(({ onDay }) => onDay)),
        toDate: sumOfFlows(own.map(({ toDate }) => toDate)),
      };
    }),
  };
};

/** As if they were one; a borrower of two funds stands there twice. @param all at least one */
export const together = (all: readonly AnalysedPortfolio[]): AnalysedPortfolio => {
  const borrowers = all.flatMap(({ concentration }) => concentration.borrowers).toSorted(byValue);
  const [named, rest] = [borrowers.slice(0, LARGEST), borrowers.slice(LARGEST)];
  const others = all.map(({ concentration }) => concentration.others);
  const unknown = all.map(({ concentration }) => concentration.unknown);
  return {
    position: positions(all.map(({ position }) => position)),
    received: months(
      all.flatMap(({ received }) => received),
      summing('amount'),
    ),
    due: months(
      all.flatMap(({ due }) => due),
      summing('installments', 'faceValue', 'presentValue', 'overdueFaceValue'),
    ),
    applications: parts(all.flatMap(({ applications }) => applications)),
    states: parts(all.flatMap(({ states }) => states)),
    products: parts(all.flatMap(({ products }) => products)),
    concentration: {
      borrowers: named,
      others: {
        borrowers: rest.length + summing('borrowers')(others).borrowers,
        ...sumOfWorth([...rest, ...others]),
      },
      unknown: sumOfWorth(unknown),
    },
    largest: all
      .flatMap(({ largest }) => largest)
      .toSorted(byValue)
      .slice(0, LARGEST),
  };
};
