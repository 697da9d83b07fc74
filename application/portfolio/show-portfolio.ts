import { presentValuesOn } from '../../domain/curve/present-value.ts';
import { daysBetween } from '../../domain/shared/calendar-date.ts';
import type { CalendarDate } from '../../domain/shared/calendar-date.ts';
import type { PortfolioFlow } from '../../projections/portfolio/portfolio-rows.ts';
import type { BusinessClock } from '../ports/clock.ts';
import type { FlowTotal, OpenPosition, PortfolioPositions } from '../ports/fund-reports.ts';
import { endOfBusinessDay } from './business-day.ts';
import { OVERDUE_BUCKETS } from './position.ts';
import type { Flow, FlowSum, FundPosition, Held } from './position.ts';

const FLOWS: readonly PortfolioFlow[] = ['settled', 'prepaid', 'repurchased', 'reversed', 'resolved'];

interface Tally {
  installments: number;
  faceValue: number;
  presentValue: number;
}

const emptyTally = (): Tally => ({ installments: 0, faceValue: 0, presentValue: 0 });

const totalOf = (tallies: readonly Held[]): Held =>
  tallies.reduce<Held>(
    (sum, tally) => ({
      installments: sum.installments + tally.installments,
      faceValue: sum.faceValue + tally.faceValue,
      presentValue: sum.presentValue + tally.presentValue,
    }),
    emptyTally(),
  );

/** Adds up open installments by their age on one day. */
class Aging {
  readonly #date: CalendarDate;
  readonly #valuesOf: ReturnType<typeof presentValuesOn>;
  readonly #bucketOf = new Map<string, Tally>();
  readonly notDue = emptyTally();
  readonly buckets = OVERDUE_BUCKETS.map(emptyTally);

  constructor(date: CalendarDate) {
    this.#date = date;
    this.#valuesOf = presentValuesOn(date);
  }

  add({ dailyFactor, open }: OpenPosition): void {
    const { lines } = this.#valuesOf(dailyFactor, open);
    open.forEach(({ dueDate, faceValue }, index) => {
      const tally = this.#tallyOf(dueDate);
      tally.installments += 1;
      tally.faceValue += faceValue;
      tally.presentValue += lines[index]!.presentValue;
    });
  }

  #tallyOf(dueDate: CalendarDate): Tally {
    let tally = this.#bucketOf.get(dueDate);
    if (tally) return tally;
    const late = daysBetween(dueDate, this.#date);
    const bucket = OVERDUE_BUCKETS.findIndex(({ from, to }) => late >= from && (to === null || late <= to));
    tally = this.buckets[bucket] ?? this.notDue;
    this.#bucketOf.set(dueDate, tally);
    return tally;
  }
}

const sumOf = (totals: readonly FlowTotal[]): FlowSum =>
  totals.reduce<FlowSum>(
    (sum, { payments, installments, amount }) => ({
      payments: sum.payments + payments,
      installments: sum.installments + installments,
      amount: sum.amount + amount,
    }),
    { payments: 0, installments: 0, amount: 0 },
  );

const flowsOf = (totals: readonly FlowTotal[]): readonly Flow[] =>
  FLOWS.map((flow) => {
    const own = totals.filter((total) => total.flow === flow);
    return { flow, onDay: sumOf(own.filter(({ onDay }) => onDay)), toDate: sumOf(own) };
  });

/**
 * What a fund held at the end of a business day. Facts count from their business date, whenever they were recorded; `knownAt`
 * leaves out what was recorded later, which gives a past answer again.
 */
export class ShowPortfolio {
  readonly #positions: PortfolioPositions;
  readonly #clock: BusinessClock;

  constructor(positions: PortfolioPositions, clock: BusinessClock) {
    this.#positions = positions;
    this.#clock = clock;
  }

  async execute(request: {
    readonly fundId: string;
    readonly date: CalendarDate;
    readonly knownAt?: string;
  }): Promise<FundPosition> {
    const { fundId, date, knownAt = this.#clock.now() } = request;
    const query = { fundId, date, knownAt, endOfDay: endOfBusinessDay(date) };
    const aging = new Aging(date);
    let operations = 0;
    for await (const page of this.#positions.openOn(query)) {
      for (const position of page) aging.add(position);
      operations += page.length;
    }
    const overdue = totalOf(aging.buckets);
    return {
      fundId,
      date,
      knownAt,
      operations,
      open: totalOf([aging.notDue, overdue]),
      overdue,
      buckets: OVERDUE_BUCKETS.map((bucket, index) => ({ ...bucket, ...aging.buckets[index]! })),
      flows: flowsOf(await this.#positions.flows(query)),
    };
  }
}
