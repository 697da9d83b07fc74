import { presentValuesOn } from '../../domain/curve/present-value.ts';
import { addDays, daysBetween } from '../../domain/shared/calendar-date.ts';
import type { CalendarDate } from '../../domain/shared/calendar-date.ts';
import type { PortfolioFlow } from '../../projections/portfolio/portfolio-projection.ts';
import type { BusinessClock } from '../ports/clock.ts';
import type { FlowTotal, OpenPosition, PortfolioPositions } from '../ports/fund-reports.ts';

const saoPaulo = new Intl.DateTimeFormat('en-CA', {
  timeZone: 'America/Sao_Paulo',
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
});

/** The day in America/Sao_Paulo on which an instant lies. */
export const businessDayOf = (instant: string): CalendarDate =>
  saoPaulo.format(Date.parse(instant)) as CalendarDate;

/** Hours behind UTC, in winter and in the summers that had one. In spring a day began at 01:00, so the later one comes first. */
const OFFSETS = [3, 2];

/** First instant after a day in America/Sao_Paulo. */
export const endOfBusinessDay = (date: CalendarDate): string => {
  const next = addDays(date, 1);
  const begins = (instant: Date): boolean =>
    saoPaulo.format(instant) === next && saoPaulo.format(new Date(instant.getTime() - 1)) === date;
  const candidates = OFFSETS.map((hours) => new Date(`${next}T0${hours}:00:00.000Z`));
  return (candidates.find(begins) ?? candidates[0]!).toISOString();
};

/**
 * Days past the due date, as the monthly report of receivables funds to the Brazilian regulator splits them (instruction CVM 576,
 * annex A). The last bucket has no end.
 */
const OVERDUE_BUCKETS = [
  { from: 1, to: 30 },
  { from: 31, to: 60 },
  { from: 61, to: 90 },
  { from: 91, to: 120 },
  { from: 121, to: 150 },
  { from: 151, to: 180 },
  { from: 181, to: 360 },
  { from: 361, to: 720 },
  { from: 721, to: 1080 },
  { from: 1081, to: null },
] as const;

/** Amounts in integer cents; face values without what prepayments took off, present values with it. */
export interface Held {
  readonly installments: number;
  readonly faceValue: number;
  readonly presentValue: number;
}

export interface OverdueBucket extends Held {
  readonly from: number;
  /** Null for the bucket without an end. */
  readonly to: number | null;
}

interface Flow {
  readonly flow: PortfolioFlow;
  readonly onDay: FlowSum;
  /** Up to the end of the day, the day included. */
  readonly toDate: FlowSum;
}

export interface FlowSum {
  readonly payments: number;
  readonly installments: number;
  readonly amount: number;
}

/** What a fund held at the end of a day, and what it got. */
export interface FundPosition {
  readonly fundId: string;
  readonly date: CalendarDate;
  readonly knownAt: string;
  /** With at least one open installment. */
  readonly operations: number;
  readonly open: Held;
  readonly overdue: Held;
  /** Youngest first; all of them, also those that are empty. */
  readonly buckets: readonly OverdueBucket[];
  /** All sorts, in a fixed order. */
  readonly flows: readonly Flow[];
}

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

  /** @returns the present value of each open installment, in their order */
  add({ dailyFactor, open }: OpenPosition): readonly number[] {
    const { lines } = this.#valuesOf(dailyFactor, open);
    open.forEach(({ dueDate, faceValue }, index) => {
      const tally = this.#tallyOf(dueDate);
      tally.installments += 1;
      tally.faceValue += faceValue;
      tally.presentValue += lines[index]!.presentValue;
    });
    return lines.map(({ presentValue }) => presentValue);
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

export interface PortfolioRequest {
  readonly fundId: string;
  readonly date: CalendarDate;
  readonly knownAt?: string;
}

/** An operation that is held, with the present value of each of its open installments. */
export interface Valued extends OpenPosition {
  readonly presentValues: readonly number[];
}

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

  /** @param onPage called with the operations that are held, some at a time; the walk waits for it */
  async execute(
    request: PortfolioRequest,
    onPage?: (page: readonly Valued[]) => Promise<void>,
  ): Promise<FundPosition> {
    const { fundId, date, knownAt = this.#clock.now() } = request;
    const query = { fundId, date, knownAt, endOfDay: endOfBusinessDay(date) };
    const aging = new Aging(date);
    let operations = 0;
    for await (const page of this.#positions.openOn(query)) {
      const valued = page.map((position) => ({ ...position, presentValues: aging.add(position) }));
      await onPage?.(valued);
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
