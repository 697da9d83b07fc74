import { together } from '../../application/portfolio/together.ts';
import { calendarDate } from '../../domain/shared/calendar-date.ts';
import { differences } from './compare.ts';
import type { Living } from './live.ts';
import type { Book, Part } from './model/book.ts';
import { dayAfter, daysFrom, isBeyond, valuation } from './model/curve.ts';

interface Line {
  readonly part: Part;
  readonly worth: number;
}
export interface HeldBook {
  readonly book: Book;
  readonly lines: readonly Line[];
}
interface Counted {
  readonly held: readonly HeldBook[];
  readonly received: readonly { readonly date: string; readonly net: number }[];
}

type Figures = Readonly<Record<'operations' | 'installments' | 'faceValue' | 'presentValue', number>>;

const BUCKETS = [1, 31, 61, 91, 121, 151, 181, 361, 721, 1081];
const MOST_NAMED = 20;
const EVERY = 1_000;

const sum = (amounts: readonly number[]): number => amounts.reduce((all, one) => all + one, 0);
const worthOf = ({ lines }: HeldBook): number => sum(lines.map(({ worth }) => worth));

/** What is beyond every amount counts, and is worth nothing that can be said. */
export const heldBook = (book: Book, open: readonly Part[], date: string): HeldBook => {
  const { total, lines } = valuation(book.v, open, date);
  return { book, lines: open.map((part, i) => ({ part, worth: isBeyond(total) ? 0 : lines[i]! })) };
};

const figuresOf = (held: readonly HeldBook[], isMeant: (part: Part) => boolean): Figures => {
  const meant = held.map(({ lines }) => lines.filter(({ part }) => isMeant(part)));
  return {
    operations: meant.filter(({ length }) => length > 0).length,
    installments: sum(meant.map(({ length }) => length)),
    faceValue: sum(meant.flat().map(({ part }) => part.face)),
    presentValue: sum(meant.flat().map(({ worth }) => worth)),
  };
};

const bucketOf = (due: string, date: string): number =>
  BUCKETS.findLast((from) => daysFrom(due, date) >= from) ?? 0;
const monthOf = (date: string): string => date.slice(0, 'yyyy-mm'.length);

/** Days in São Paulo end three hours after those of UTC; what the fund bought counts from the day on which it paid, recorded or not. */
const stateOn = ({ history }: Book, date: string): string => {
  const status = history.findLast(({ at }) => at < `${dayAfter(date, 1)}T03:00:00.000Z`)?.status;
  return status === undefined || ['received', 'approved', 'term_signed'].includes(status) ? 'active' : status;
};

const byName = (all: ReadonlyMap<string, readonly HeldBook[]>): object =>
  Object.fromEntries(
    [...all].map(([name, own]) => [
      name,
      { operations: own.length, presentValue: sum(own.map((one) => worthOf(one))) },
    ]),
  );
const named = (
  all: readonly {
    readonly name: string | undefined;
    readonly operations: number;
    readonly presentValue: number;
  }[],
): object => Object.fromEntries(all.map(({ name, ...worth }) => [String(name), worth]));

const ordered = (all: readonly { readonly operations: number; readonly presentValue: number }[]) =>
  all
    .map(({ operations, presentValue }) => [presentValue, operations] as const)
    .toSorted(([a, b], [c, d]) => c - a || d - b);

const analysisOf = (living: Living, { held, received }: Counted, date: string): object => {
  const months = Map.groupBy(
    held.flatMap(({ lines }) => lines),
    ({ part }) => monthOf(part.due),
  );
  const borrowers = Map.groupBy(
    held.filter(({ book }) => !book.forgotten),
    ({ book }) => `${book.fund} ${book.person.document}`,
  );
  const forgotten = held.filter(({ book }) => book.forgotten);
  const worths = [...borrowers.values()].map((own) => ({
    ...{ operations: own.length, presentValue: sum(own.map((one) => worthOf(one))) },
  }));
  return {
    due: [...months]
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([month, lines]) => ({
        ...{ month, installments: lines.length, faceValue: sum(lines.map(({ part }) => part.face)) },
        overdueFaceValue: sum(lines.filter(({ part }) => part.due < date).map(({ part }) => part.face)),
        presentValue: sum(lines.map(({ worth }) => worth)),
      })),
    received: [...Map.groupBy(received, (one) => monthOf(one.date))]
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([month, own]) => ({ month, amount: sum(own.map(({ net }) => net)) })),
    applications: byName(new Map(held.length > 0 ? [[living.application.applicationId, held]] : [])),
    states: byName(Map.groupBy(held, ({ book }) => stateOn(book, date))),
    products: byName(Map.groupBy(held, ({ book }) => book.product)),
    borrowers: ordered(worths).slice(0, MOST_NAMED),
    unknown: { operations: forgotten.length, presentValue: sum(forgotten.map((one) => worthOf(one))) },
    largest: held
      .map((one) => worthOf(one))
      .toSorted((a, b) => b - a)
      .slice(0, MOST_NAMED),
    buckets: BUCKETS.map((from) => {
      const { operations: _, ...figures } = figuresOf(held, ({ due }) => bucketOf(due, date) === from);
      return { from, ...figures };
    }),
  };
};

type Analysed = Awaited<ReturnType<Living['world']['parts']['portfolio']['analyse']>>;

const shownOf = ({ concentration, position, ...found }: Analysed): object => ({
  ...found,
  applications: named(found.applications),
  states: named(found.states),
  products: named(found.products),
  borrowers: ordered(concentration.borrowers),
  unknown: concentration.unknown,
  largest: found.largest.map(({ presentValue }) => presentValue),
  buckets: position.buckets,
});

/** What the month report says of each fund, and of all of them together. */
export const monthDifferences = async (
  living: Living,
  funds: ReadonlyMap<string, Counted>,
  date: string,
): Promise<readonly string[]> => {
  const found: Analysed[] = [];
  const unlike: string[] = [];
  for (const [fundId, counted] of funds) {
    const analysed = await living.world.parts.portfolio.analyse(fundId, calendarDate(date));
    unlike.push(...differences(analysisOf(living, counted, date), shownOf(analysed)));
    found.push(analysed);
  }
  const all = [...funds.values()];
  const counted = {
    held: all.flatMap(({ held }) => held),
    received: all.flatMap(({ received }) => received),
  };
  unlike.push(...differences(analysisOf(living, counted, date), shownOf(together(found)), 'all funds'));
  return unlike.map((text) => `month report on ${date}: ${text}`);
};

/** What each part of it opens into. */
export const partDifferences = async (
  living: Living,
  fundId: string,
  { held }: Counted,
  date: string,
): Promise<readonly string[]> => {
  const months = new Set(held.flatMap(({ lines }) => lines.map(({ part }) => monthOf(part.due))));
  const all = (): boolean => true;
  const parts = [
    ...[...months].map((month) => ['month', month, held, ({ due }: Part) => monthOf(due) === month] as const),
    ...[0, ...BUCKETS].map(
      (from) => ['late', String(from), held, ({ due }: Part) => bucketOf(due, date) === from] as const,
    ),
    ['late', 'all', held, ({ due }: Part) => due < date] as const,
    ...[...Map.groupBy(held, ({ book }) => stateOn(book, date))].map(
      ([name, own]) => ['state', name, own, all] as const,
    ),
    ...[...Map.groupBy(held, ({ book }) => book.product)].map(
      ([name, own]) => ['product', name, own, all] as const,
    ),
  ];
  const unlike: string[] = [];
  for (const [by, value, of, isMeant] of parts) {
    const { largest, ...sums } = await living.world.parts.portfolio.held(
      ...([fundId, calendarDate(date), { by, value }, EVERY] as const),
    );
    const named = sum(largest.map(({ presentValue }) => presentValue));
    const figures = figuresOf(of, isMeant);
    const expected = { ...figures, named: figures.presentValue };
    unlike.push(...differences(expected, { ...sums, named }, `${by} ${value} on ${date}`));
  }
  return unlike;
};
