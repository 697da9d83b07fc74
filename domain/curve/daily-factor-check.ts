import { daysBetween } from '../shared/calendar-date.ts';
import type { CalendarDate } from '../shared/calendar-date.ts';
import type { Cents } from '../shared/money.ts';
import { solveDailyFactor } from './daily-factor.ts';

/** Fixed point with so many binary digits after the point: some forty decimals more than a factor has. */
const FRACTION = 256n;
const FACTOR_TEXT = /^(\d+)\.(\d{30,120})$/;

const powersOf = (base: bigint): ((exponent: number) => bigint) => {
  const known = new Map<number, bigint>([[0, 1n << FRACTION]]);
  const power = (exponent: number): bigint => {
    let value = known.get(exponent);
    if (value !== undefined) return value;
    const half = power(exponent >> 1);
    value = (half * half) >> FRACTION;
    if (exponent % 2 === 1) value = (value * base) >> FRACTION;
    known.set(exponent, value);
    return value;
  };
  return power;
};

export interface PricedSchedule {
  readonly acquisitionValue: Cents;
  readonly dateIssued: CalendarDate;
  readonly installments: readonly { readonly dueDate: CalendarDate; readonly faceValue: Cents }[];
}

/** Whether the faces add up to the price as closely as the factor's last digit can say. */
const fits = (text: string, { acquisitionValue, dateIssued, installments }: PricedSchedule): boolean => {
  const [, whole, decimals] = FACTOR_TEXT.exec(text) ?? [];
  if (whole === undefined || decimals === undefined) return false;
  const scale = 10n ** BigInt(decimals.length);
  const factor = (BigInt(whole + decimals) << FRACTION) / scale;
  if (factor === 0n) return false;
  const power = powersOf(factor);
  let [sum, weighted, at, reached] = [0n, 0n, 0, 1n << FRACTION];
  for (const { dueDate, faceValue } of installments) {
    const days = daysBetween(dateIssued, dueDate);
    if (days < 1 || faceValue <= 0) return false;
    // Schedules mostly ascend in steps of a few lengths, whose powers are known by then.
    reached = days >= at ? (reached * power(days - at)) >> FRACTION : power(days);
    at = days;
    sum += BigInt(faceValue) * reached;
    weighted += BigInt(faceValue) * reached * BigInt(days);
  }
  const missed = sum - (BigInt(acquisitionValue) << FRACTION);
  // Half a unit of the last digit, times the slope; a billionth more for what the fixed point cuts off, which is far less.
  const slope = (weighted << FRACTION) / factor;
  return (missed < 0n ? -missed : missed) * scale * 2_000_000_000n <= slope * 1_000_000_001n;
};

/**
 * Whether this is the daily factor that `solveDailyFactor` gives: tested in its equation, which costs a fraction of solving it. What
 * does not fit is solved to be sure.
 */
export const isDailyFactor = (text: string, schedule: PricedSchedule): boolean =>
  fits(text, schedule) ||
  solveDailyFactor(schedule.acquisitionValue, schedule.dateIssued, schedule.installments) === text;
