import { presentValuesOn } from '../../domain/curve/present-value.ts';
import { daysBetween } from '../../domain/shared/calendar-date.ts';
import type { CalendarDate } from '../../domain/shared/calendar-date.ts';
import { REPURCHASE_END_STATUSES } from '../../domain/loan/exits.ts';
import { LARGEST_AMOUNT } from '../../domain/shared/money.ts';
import { parseLoanStream } from '../command-handling/operation.ts';
import type { OperationPlace } from '../command-handling/operation.ts';
import type {
  OpenPosition,
  PortfolioFlow,
  PositionRequest,
  SqlPortfolioPositions,
} from './portfolio-reader.ts';

/** Days past the due date, as in the monthly report to the regulator (instruction CVM 576, annex A). */
export const OVERDUE_BUCKETS = [
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

/** Undefined for what is not overdue. */
export const bucketOf = (late: number): (typeof OVERDUE_BUCKETS)[number] | undefined =>
  OVERDUE_BUCKETS.find(({ from, to }) => late >= from && (to === null || late <= to));

/** Amounts in integer cents; face values without what prepayments took off, present values with it. */
export interface Held {
  readonly installments: number;
  readonly faceValue: number;
  readonly presentValue: number;
}

const MOST_NAMED = 20;

const FLOWS: readonly PortfolioFlow[] = ['settled', 'prepaid', ...REPURCHASE_END_STATUSES];

type Tally = { -readonly [Name in keyof Held]: Held[Name] };

const emptyTally = (): Tally => ({ installments: 0, faceValue: 0, presentValue: 0 });

export const summing =
  <Name extends string>(...names: readonly Name[]) =>
  (all: readonly Readonly<Record<Name, number>>[]): Record<Name, number> =>
    Object.fromEntries(names.map((name) => [name, all.reduce((sum, one) => sum + one[name], 0)])) as Record<
      Name,
      number
    >;

export const sumOfHeld = summing('installments', 'faceValue', 'presentValue');
export const sumOfFlows = summing('payments', 'installments', 'amount');

class Aging {
  readonly #date: CalendarDate;
  readonly #valuesOf: ReturnType<typeof presentValuesOn>;
  readonly #bucketOf = new Map<string, Tally>();
  readonly notDue = emptyTally();
  readonly buckets = OVERDUE_BUCKETS.map(emptyTally);
  /** Operations worth more than an amount can say, as `GET /loan` has it: they count, but no present value holds them. */
  readonly withoutPresentValue = {
    ...{ operations: 0, faceValue: 0 },
    named: [] as OperationPlace[],
  };

  constructor(date: CalendarDate) {
    this.#date = date;
    this.#valuesOf = presentValuesOn(date);
  }

  /** @returns the present value of each open installment, in their order; nothing where no amount can say it */
  add(position: OpenPosition): readonly number[] {
    const { dailyFactor, open } = position;
    const { total, lines } = this.#valuesOf(dailyFactor, open);
    const values = lines.map(({ presentValue }) => (total > LARGEST_AMOUNT ? 0 : presentValue));
    if (total > LARGEST_AMOUNT) this.#leaveOut(position);
    open.forEach(({ dueDate, faceValue }, index) => {
      const tally = this.#tallyOf(dueDate);
      tally.installments += 1;
      tally.faceValue += faceValue;
      tally.presentValue += values[index]!;
    });
    return values;
  }

  #leaveOut({ stream, open }: OpenPosition): void {
    const left = this.withoutPresentValue;
    left.operations += 1;
    left.faceValue += open.reduce((sum, { faceValue }) => sum + faceValue, 0);
    const place = left.named.length < MOST_NAMED && parseLoanStream(stream);
    if (place) left.named.push(place);
  }

  #tallyOf(dueDate: CalendarDate): Tally {
    let tally = this.#bucketOf.get(dueDate);
    if (tally) return tally;
    const late = daysBetween(dueDate, this.#date);
    const bucket = bucketOf(late);
    tally = (bucket && this.buckets[OVERDUE_BUCKETS.indexOf(bucket)]) ?? this.notDue;
    this.#bucketOf.set(dueDate, tally);
    return tally;
  }
}

type FlowTotal = Awaited<ReturnType<SqlPortfolioPositions['flows']>>[number];

const flowsOf = (totals: readonly FlowTotal[]) =>
  FLOWS.map((flow) => {
    const own = totals.filter((total) => total.flow === flow);
    return {
      flow,
      onDay: sumOfFlows(own.filter(({ onDay }) => onDay)),
      toDate: sumOfFlows(own),
    };
  });

export interface Valued extends OpenPosition {
  readonly presentValues: readonly number[];
}

/** `knownAt` leaves out what was recorded later. @param onPage called with some operations at a time, and awaited */
export const positionOf = async (
  positions: SqlPortfolioPositions,
  request: PositionRequest,
  onPage?: (page: readonly Valued[]) => Promise<void>,
) => {
  const { fundId, date, knownAt } = request;
  const aging = new Aging(date);
  let operations = 0;
  for await (const page of positions.openOn(request)) {
    const valued = page.map((position) => ({ ...position, presentValues: aging.add(position) }));
    await onPage?.(valued);
    operations += page.length;
  }
  const overdue = sumOfHeld(aging.buckets);
  return {
    fundId,
    date,
    knownAt,
    operations,
    open: sumOfHeld([aging.notDue, overdue]),
    overdue,
    withoutPresentValue: aging.withoutPresentValue,
    buckets: OVERDUE_BUCKETS.map((bucket, index) => ({ ...bucket, ...aging.buckets[index]! })),
    flows: flowsOf(await positions.flows(request)),
  };
};

export type FundPosition = Awaited<ReturnType<typeof positionOf>>;
