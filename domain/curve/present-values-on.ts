import { daysBetween } from '../shared/calendar-date.ts';
import type { CalendarDate } from '../shared/calendar-date.ts';
import { cents } from '../shared/money.ts';
import type { PresentValueLine } from '../loan/events.ts';
import { presentValue } from './present-value.ts';
import type { OpenAmount, PresentValue } from './present-value.ts';

const CENTS_PER_UNIT = 100;
/** Above it the float's own spacing comes too close to a cent. */
const LARGEST = 1e12;
/**
 * Eight units in the last place for each day and 64 days more: the factor's own rounding grows with the exponent, and the power,
 * the product and the sum add less than what is spare.
 */
const RELATIVE_ERROR_PER_DAY = 2 ** -50;
const SPARE_DAYS = 64;

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
    error += Math.abs(carried) * (Math.abs(exponent) + SPARE_DAYS) * RELATIVE_ERROR_PER_DAY;
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
