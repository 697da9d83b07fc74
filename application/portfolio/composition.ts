import { summing, positionOf } from './position.ts';
import type { Held, Valued } from './position.ts';
import type { CalendarDate } from '../../domain/shared/calendar-date.ts';
import { parseLoanStream } from '../command-handling/operation.ts';
import type { OperationPlace } from '../command-handling/operation.ts';
import { standingsOn } from './portfolio-reader.ts';
import type { PositionRequest, Standing, SqlPortfolioPositions } from './portfolio-reader.ts';
import type { Privacy } from '../privacy/privacy.ts';
import type { SqlDatabase } from '../sql/sql-database.ts';

/** What some of the operations are worth to the fund; present value in integer cents. */
interface Worth {
  readonly operations: number;
  readonly presentValue: number;
}

export const sumOfWorth = summing('operations', 'presentValue');

export interface Part extends Worth {
  readonly name: string | undefined;
}

interface OperationWorth extends OperationPlace {
  readonly presentValue: number;
}

interface BorrowerWorth extends Worth {
  /** The borrower's largest operation, which is how the borrower can be named: who it is stands nowhere here. */
  readonly largest: OperationWorth & { readonly stream: string };
}

export const LARGEST = 20;
const GATHERED = 10_000;
const MONTH = 'yyyy-mm'.length;

type Tally = { -readonly [Name in keyof Worth]: Worth[Name] };
const empty = (): Tally => ({ operations: 0, presentValue: 0 });

export const byValue = (
  one: { readonly presentValue: number },
  other: { readonly presentValue: number },
): number => other.presentValue - one.presentValue;

class Parts {
  readonly #tallies = new Map<string | undefined, Tally>();

  add(name: string | undefined, presentValue: number): void {
    let tally = this.#tallies.get(name);
    if (tally === undefined) this.#tallies.set(name, (tally = empty()));
    tally.operations += 1;
    tally.presentValue += presentValue;
  }

  all(): readonly Part[] {
    return [...this.#tallies].map(([name, tally]) => ({ name, ...tally })).toSorted(byValue);
  }
}

interface BorrowerTally extends Tally {
  largest: BorrowerWorth['largest'];
}

class Borrowers {
  readonly #tallies = new Map<string, BorrowerTally>();
  readonly #unknown = empty();

  add(digest: string | undefined, operation: BorrowerWorth['largest']): void {
    const tally = digest === undefined ? this.#unknown : this.#tallyOf(digest, operation);
    tally.operations += 1;
    tally.presentValue += operation.presentValue;
  }

  /** The `LARGEST` at most, the largest first; everyone else; and operations whose borrowers were forgotten, and cannot be told apart. */
  concentration() {
    const sorted = [...this.#tallies.values()].toSorted(byValue);
    const rest = sorted.slice(LARGEST);
    const others = { borrowers: rest.length, ...sumOfWorth(rest) };
    const borrowers: readonly BorrowerWorth[] = sorted.slice(0, LARGEST);
    return { borrowers, others, unknown: this.#unknown };
  }

  #tallyOf(digest: string, operation: BorrowerWorth['largest']): Tally {
    const before = this.#tallies.get(digest);
    if (before === undefined) {
      const tally = { ...empty(), largest: operation };
      this.#tallies.set(digest, tally);
      return tally;
    }
    if (before.largest.presentValue < operation.presentValue) before.largest = operation;
    return before;
  }
}

/** Recorded before the purchase was, which counts from an earlier day. */
const BEFORE_PURCHASE: readonly (string | undefined)[] = ['received', 'approved', 'term_signed', undefined];

export const statusOf = (standing: Standing | undefined): string | undefined =>
  standing && (BEFORE_PURCHASE.includes(standing.status) ? 'active' : standing.status);

class Composition {
  readonly #date: CalendarDate;
  readonly #months = new Map<string, { -readonly [Name in keyof Held | 'overdueFaceValue']: number }>();
  readonly #applications = new Parts();
  readonly #states = new Parts();
  readonly #products = new Parts();
  readonly #borrowers = new Borrowers();
  #largest: OperationWorth[] = [];

  constructor(date: CalendarDate) {
    this.#date = date;
  }

  /** @param borrowers a digest for each stream; @see Privacy */
  add(page: readonly Valued[], standings: readonly Standing[], borrowers: ReadonlyMap<string, string>): void {
    const standingOf = new Map(standings.map((one) => [one.stream, one]));
    for (const held of page) {
      const { stream } = held;
      const presentValue = this.#addMonths(held);
      const place = parseLoanStream(stream);
      if (place === undefined) continue;
      const operation = { ...place, presentValue };
      const standing = standingOf.get(stream);
      this.#applications.add(place.applicationId, presentValue);
      this.#states.add(statusOf(standing), presentValue);
      this.#products.add(standing?.productType, presentValue);
      this.#borrowers.add(borrowers.get(stream), { ...operation, stream });
      this.#largest.push(operation);
    }
    if (this.#largest.length >= GATHERED) this.#largest = this.#largestOnes();
  }

  result() {
    return {
      /** Open installments by the month in which they are due, oldest first. */
      due: [...this.#months]
        .map(([month, sums]) => ({ month, ...sums }))
        .toSorted((one, other) => (one.month < other.month ? -1 : 1)),
      /** By the application that brought them, by the state in which they were recorded at the end of the day, by product; the largest first. */
      applications: this.#applications.all(),
      states: this.#states.all(),
      products: this.#products.all(),
      concentration: this.#borrowers.concentration(),
      largest: this.#largestOnes(),
    };
  }

  #largestOnes(): OperationWorth[] {
    return this.#largest.toSorted(byValue).slice(0, LARGEST);
  }

  /** @returns the present value of the operation */
  #addMonths({ open, presentValues }: Valued): number {
    let worth = 0;
    for (const [i, { dueDate, faceValue }] of open.entries()) {
      const presentValue = presentValues[i]!;
      const month = this.#monthOf(dueDate.slice(0, MONTH));
      month.installments += 1;
      month.faceValue += faceValue;
      if (dueDate < this.#date) month.overdueFaceValue += faceValue;
      month.presentValue += presentValue;
      worth += presentValue;
    }
    return worth;
  }

  #monthOf(month: string) {
    let sums = this.#months.get(month);
    if (sums === undefined)
      this.#months.set(
        month,
        (sums = { installments: 0, faceValue: 0, overdueFaceValue: 0, presentValue: 0 }),
      );
    return sums;
  }
}

interface Sources {
  readonly database: SqlDatabase;
  readonly positions: SqlPortfolioPositions;
  readonly privacy: Pick<Privacy, 'tell'>;
}

export const analysisOf = async ({ database, positions, privacy }: Sources, request: PositionRequest) => {
  const composition = new Composition(request.date);
  const position = await positionOf(positions, request, async (page) => {
    const streams = page.map(({ stream }) => stream);
    const stood = await standingsOn(database, request.date, streams);
    composition.add(page, stood, await privacy.tell(stood));
  });
  const received = await positions.receivedByMonth(request);
  return { position, received, ...composition.result() };
};

export type AnalysedPortfolio = Awaited<ReturnType<typeof analysisOf>>;
