import { daysBetween } from '../shared/calendar-date.ts';
import type { CalendarDate } from '../shared/calendar-date.ts';
import type { Cents } from '../shared/money.ts';
import { estimateDailyFactor } from './daily-factor-estimate.ts';
import type { Flow } from './daily-factor-estimate.ts';
import { Decimal, ONE, ZERO } from './decimal.ts';
import { carryOf } from './powers.ts';

const DIGITS = 30;
const MAX_STEPS = 50;
/** Newton squares the error: after a relative step this small, what is left is far below the last digit kept. */
const LAST_STEP = new Decimal('1e-24');

interface Dated {
  readonly dueDate: CalendarDate;
  readonly faceValue: Cents;
}

/** Newton's next value for sum(face * v^days) = acquisition value: convex and growing in v > 0, so one root. */
const refine = (v: Decimal, acquisitionValue: Decimal, flows: readonly Flow[]): Decimal => {
  const carry = carryOf(v);
  let value = ZERO;
  let slopeTimesV = ZERO;
  for (const { days, faceValue } of flows) {
    const term = carry(days).times(faceValue);
    value = value.plus(term);
    slopeTimesV = slopeTimesV.plus(term.times(days));
  }
  return v.minus(value.minus(acquisitionValue).times(v).div(slopeTimesV));
};

/** 30 decimals, and more where leading zeros would leave fewer than 30 significant digits. */
const format = (v: Decimal): string => v.toFixed(Math.max(DIGITS, DIGITS - 1 - v.e));

const solve = (acquisitionValue: Cents, flows: readonly Flow[]): Decimal => {
  const target = new Decimal(acquisitionValue);
  let v = new Decimal(estimateDailyFactor(acquisitionValue, flows));
  for (let i = 0; i < MAX_STEPS; i += 1) {
    const next = refine(v, target, flows);
    const step = next.minus(v).abs();
    v = next;
    if (step.lte(v.times(LAST_STEP))) return v;
  }
  throw new RangeError('the daily factor did not settle');
};

/**
 * The factor v > 0 by which a value due one day later counts, so that the faces, each times v to the days from the issue, add
 * up to the acquisition value (policy `curve_v1`, Actual/365 over calendar days).
 *
 * @returns decimal text with 30 decimals (more below 0.1, to keep 30 significant digits); above 1 when the yield is negative
 * @throws RangeError unless amounts are positive and every due date comes after the issue
 */
export const solveDailyFactor = (
  acquisitionValue: Cents,
  dateIssued: CalendarDate,
  installments: readonly Dated[],
): string => {
  const flows = installments.map(({ dueDate, faceValue }) => ({
    days: daysBetween(dateIssued, dueDate),
    faceValue,
  }));
  if (
    flows.length === 0 ||
    acquisitionValue <= 0 ||
    flows.some((flow) => flow.days < 1 || flow.faceValue <= 0)
  ) {
    throw new RangeError(
      'a daily factor needs a positive price and positive faces that fall due after the issue',
    );
  }
  const faces = flows.reduce((sum, flow) => sum + flow.faceValue, 0);
  return format(faces === acquisitionValue ? ONE : solve(acquisitionValue, flows));
};

/** v^-365 - 1 with ten decimals: `0.2809353655` is 28.09353655 % a year. For display; prices are computed with v. */
export const annualEffectiveRate = (dailyFactor: string): string =>
  carryOf(new Decimal(dailyFactor))(-365).minus(1).toFixed(10);
