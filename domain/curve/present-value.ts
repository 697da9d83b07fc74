import type { PrepaymentCredit, ScheduledInstallment } from '../installment/installment.ts';
import { daysBetween } from '../shared/calendar-date.ts';
import type { CalendarDate } from '../shared/calendar-date.ts';
import type { InstallmentCode } from '../shared/identifiers.ts';
import { ZERO as NOTHING, cents, subtractCents } from '../shared/money.ts';
import type { Cents } from '../shared/money.ts';
import { Decimal, ZERO, carryOf, roundToCents } from './decimal.ts';

const CENTS_PER_UNIT = 100;

export interface OpenAmount extends ScheduledInstallment {
  readonly credits: readonly PrepaymentCredit[];
}

/** What an open installment is worth on one date, rounded so that the lines add up to their rounded sum. */
export interface PresentValueLine {
  readonly installmentCode: InstallmentCode;
  readonly presentValue: Cents;
}

/** An open installment and its exact value, in cents, on one date. */
export interface Valued<Amount extends OpenAmount = OpenAmount> {
  readonly installment: Amount;
  readonly exact: Decimal;
}

export const valueEach = <Amount extends OpenAmount>(
  dailyFactor: string,
  open: readonly Amount[],
  date: CalendarDate,
): readonly Valued<Amount>[] => {
  const carry = carryOf(new Decimal(dailyFactor));
  const powers = new Map<CalendarDate, Decimal>();
  const carriedFrom = (day: CalendarDate): Decimal => {
    let power = powers.get(day);
    if (power === undefined) powers.set(day, (power = carry(daysBetween(date, day))));
    return power;
  };
  return open.map((installment) => {
    let exact = carriedFrom(installment.dueDate).times(installment.faceValue);
    for (const credit of installment.credits)
      exact = exact.minus(centsOf(credit).times(carriedFrom(credit.date)));
    return { installment, exact };
  });
};

const readCredits = new WeakMap<PrepaymentCredit, Decimal>();

/** Read once: an operation may be prepaid by a cent thousands of times, and each of its prices takes every credit off. */
const centsOf = (credit: PrepaymentCredit): Decimal => {
  let exact = readCredits.get(credit);
  if (exact === undefined) readCredits.set(credit, (exact = new Decimal(credit.value).times(CENTS_PER_UNIT)));
  return exact;
};

interface PresentValue {
  readonly total: Cents;
  /** In the order given; they add up to `total`. */
  readonly lines: readonly PresentValueLine[];
}

/** Rounds running totals instead of lines, so that the lines add up to the rounded total to the cent. */
export const roundRunningTotals = (valued: readonly Valued[]): PresentValue => {
  let sum = ZERO;
  let total = NOTHING;
  const lines = valued.map(({ installment, exact }) => {
    sum = sum.plus(exact);
    const before = total;
    total = roundToCents(sum);
    return { installmentCode: installment.code, presentValue: subtractCents(total, before) };
  });
  return { total, lines };
};

/**
 * What the open installments are worth on a date (policy `curve_v1`): overdue ones keep growing along the curve.
 *
 * @param dailyFactor decimal text from `solveDailyFactor`
 * @returns cents, half up on running totals, never above `VALUE_CEILING`
 */
export const presentValue = (
  dailyFactor: string,
  open: readonly OpenAmount[],
  date: CalendarDate,
): PresentValue => roundRunningTotals(valueEach(dailyFactor, open, date));

/**
 * What an open installment owes on its due date: its face value, or what its credits leave of it. A leftover credit may miss
 * the true balance by half a cent either way, so the result is held between nothing and the face value.
 */
export const outstandingAtDueDate = (dailyFactor: string, installment: OpenAmount): Cents => {
  if (installment.credits.length === 0) return installment.faceValue;
  const { total: owed } = presentValuesOn(installment.dueDate)(dailyFactor, [installment]);
  return cents(Math.min(installment.faceValue, Math.max(0, owed)));
};

/** Above it the float's own spacing comes too close to a cent. */
const LARGEST = 1e12;
/**
 * Eight units in the last place for each day and 64 days more: the factor's own rounding grows with the exponent, and the power
 * and the product add less than what is spare.
 */
const RELATIVE_ERROR_PER_DAY = 2 ** -50;
const SPARE_DAYS = 64;
/** Twice what the sum loses with each of its terms: thousands of small credits lose more than they are worth. */
const RELATIVE_ERROR_OF_SUM = 2 ** -52;

/** Whole days from one date to others; schedules repeat theirs, and reading a date costs more than a power. */
const daysFrom = (date: CalendarDate): ((other: CalendarDate) => number) => {
  const known = new Map<string, number>();
  return (other) => {
    let days = known.get(other);
    if (days === undefined) known.set(other, (days = daysBetween(date, other)));
    return days;
  };
};

/** Lines in floats; undefined as soon as one running total is too close to half a cent to be sure of its rounding. */
const certainLines = (
  factor: number,
  open: readonly OpenAmount[],
  days: (date: CalendarDate) => number,
): PresentValue | undefined => {
  let [sum, error, total] = [0, 0, 0];
  const lines: PresentValueLine[] = [];
  const add = (value: number, exponent: number): void => {
    const carried = value * factor ** exponent;
    sum += carried;
    error +=
      Math.abs(carried) * (Math.abs(exponent) + SPARE_DAYS) * RELATIVE_ERROR_PER_DAY +
      Math.abs(sum) * RELATIVE_ERROR_OF_SUM;
  };
  for (const installment of open) {
    add(installment.faceValue, days(installment.dueDate));
    for (const { value, date } of installment.credits) add(-Number(value) * CENTS_PER_UNIT, days(date));
    const whole = Math.floor(sum);
    const fromHalf = Math.abs(sum - whole - 0.5);
    if (!(sum >= 0 && sum < LARGEST && fromHalf > error)) return undefined;
    const before = total;
    total = Math.floor(sum + 0.5);
    lines.push({ installmentCode: installment.code, presentValue: cents(total - before) });
  }
  return { total: cents(total), lines };
};

/**
 * `presentValue` for many operations on one date: the same cents, some hundred times faster. Floats decide only where their error
 * cannot reach the next half cent; everything else goes the exact way.
 */
export const presentValuesOn = (
  date: CalendarDate,
): ((dailyFactor: string, open: readonly OpenAmount[]) => PresentValue) => {
  const days = daysFrom(date);
  return (dailyFactor, open) =>
    certainLines(Number(dailyFactor), open, days) ?? presentValue(dailyFactor, open, date);
};
