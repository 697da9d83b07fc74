import type { CalendarDate } from '../shared/calendar-date.ts';
import type { Cents } from '../shared/money.ts';
import { meanDays, solveDailyFactor } from './daily-factor.ts';
import { FRACTION, SLOPE_FRACTION, flowsOf, sumOfFaces } from './fixed-point.ts';

const FACTOR_TEXT = /^(\d+)\.(\d{30,120})$/;

interface PricedSchedule {
  readonly acquisitionValue: Cents;
  readonly dateIssued: CalendarDate;
  readonly installments: Parameters<typeof flowsOf>[1];
}

/** Whether the faces add up to the price as closely as the factor's last digit can say. */
const fits = (text: string, { acquisitionValue, dateIssued, installments }: PricedSchedule): boolean => {
  const [, whole, decimals] = FACTOR_TEXT.exec(text) ?? [];
  if (whole === undefined || decimals === undefined) return false;
  const scale = 10n ** BigInt(decimals.length);
  const factor = (BigInt(whole + decimals) << FRACTION) / scale;
  if (factor === 0n) return false;
  const flows = flowsOf(dateIssued, installments);
  if (flows.some(({ days, faceValue }) => days < 1 || faceValue <= 0)) return false;
  const missed = sumOfFaces(factor, flows) - (BigInt(acquisitionValue) << FRACTION);
  // Half a unit of the last digit, times the slope; a billionth more for what the fixed point and the float cut off, which is less.
  const slope = Math.round(meanDays(Number(text), flows) * 2 ** SLOPE_FRACTION);
  return (
    (missed < 0n ? -missed : missed) * factor * scale * 2_000_000_000n <=
    ((BigInt(acquisitionValue) * BigInt(slope) * 1_000_000_001n) << (FRACTION * 2n)) >> BigInt(SLOPE_FRACTION)
  );
};

/** Tested in the equation, which costs a fraction of solving it. What does not fit is solved to be sure. */
export const isDailyFactor = (text: string, schedule: PricedSchedule): boolean =>
  fits(text, schedule) ||
  solveDailyFactor(schedule.acquisitionValue, schedule.dateIssued, schedule.installments) === text;
