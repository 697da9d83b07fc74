import { parseLoanStream } from '../command-handling/operation.ts';
import type { BusinessClock } from '../ports/clock.ts';
import type { MonthlySum, OpenPosition, PortfolioPositions } from '../ports/fund-reports.ts';
import { ShowPortfolio, endOfBusinessDay } from './show-portfolio.ts';
import type { FundPosition, Held, PortfolioRequest } from './show-portfolio.ts';

/** What an operation, or all operations of an application, are worth to the fund. */
export interface Share {
  readonly applicationId: string;
  /** Undefined for all operations of the application. */
  readonly code?: string;
  readonly operations: number;
  readonly presentValue: number;
}

export interface DueMonth extends Held {
  /** As in 2026-06. */
  readonly month: string;
}

/** A position with what it is made of; amounts in integer cents. */
export interface AnalysedPortfolio {
  readonly position: FundPosition;
  /** Oldest first; net of excess. */
  readonly received: readonly MonthlySum[];
  /** Open installments by the month in which they are due, oldest first; those of the past are overdue. */
  readonly due: readonly DueMonth[];
  /** Applications by what they brought, the largest first. */
  readonly applications: readonly Share[];
  /** The largest operations, at most `LARGEST`. */
  readonly largest: readonly Share[];
}

export const LARGEST = 20;
/** So many are gathered before the small ones are let go again. */
const GATHERED = 10_000;
const MONTH = 'yyyy-mm'.length;

const byValue = (one: Share, other: Share): number => other.presentValue - one.presentValue;

/** Gathers what a walk over the held operations comes past; memory does not grow with them. */
class Composition {
  readonly #months = new Map<string, { installments: number; faceValue: number; presentValue: number }>();
  readonly #applications = new Map<string, { operations: number; presentValue: number }>();
  #largest: Share[] = [];

  add({ stream, open }: OpenPosition, presentValues: readonly number[]): void {
    let worth = 0;
    for (const [i, { dueDate, faceValue }] of open.entries()) {
      const presentValue = presentValues[i]!;
      const month = this.#monthOf(dueDate.slice(0, MONTH));
      month.installments += 1;
      month.faceValue += faceValue;
      month.presentValue += presentValue;
      worth += presentValue;
    }
    const place = parseLoanStream(stream);
    if (place === undefined) return;
    const application = this.#applications.get(place.applicationId) ?? { operations: 0, presentValue: 0 };
    application.operations += 1;
    application.presentValue += worth;
    this.#applications.set(place.applicationId, application);
    this.#largest.push({ ...place, operations: 1, presentValue: worth });
    if (this.#largest.length >= GATHERED) this.#largest = this.largest();
  }

  largest(): Share[] {
    return this.#largest.toSorted(byValue).slice(0, LARGEST);
  }

  due(): readonly DueMonth[] {
    return [...this.#months]
      .map(([month, sums]) => ({ month, ...sums }))
      .toSorted((one, other) => (one.month < other.month ? -1 : 1));
  }

  applications(): readonly Share[] {
    return [...this.#applications]
      .map(([applicationId, sums]) => ({ applicationId, ...sums }))
      .toSorted(byValue);
  }

  #monthOf(month: string) {
    let sums = this.#months.get(month);
    if (sums === undefined)
      this.#months.set(month, (sums = { installments: 0, faceValue: 0, presentValue: 0 }));
    return sums;
  }
}

/** The position of a fund with what it is made of, in one walk over what it holds. */
export class AnalysePortfolio {
  readonly #positions: PortfolioPositions;
  readonly #clock: BusinessClock;

  constructor(positions: PortfolioPositions, clock: BusinessClock) {
    this.#positions = positions;
    this.#clock = clock;
  }

  async execute(request: PortfolioRequest): Promise<AnalysedPortfolio> {
    const composition = new Composition();
    const showing = new ShowPortfolio(this.#positions, this.#clock);
    const position = await showing.execute(request, (held, values) => composition.add(held, values));
    const { fundId, date, knownAt } = position;
    const query = { fundId, date, knownAt, endOfDay: endOfBusinessDay(date) };
    return {
      position,
      received: await this.#positions.receivedByMonth(query),
      due: composition.due(),
      applications: composition.applications(),
      largest: composition.largest(),
    };
  }
}
