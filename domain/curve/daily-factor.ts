import type { ScheduledInstallment } from '../installment/installment.ts';
import { daysBetween } from '../shared/calendar-date.ts';
import type { CalendarDate } from '../shared/calendar-date.ts';
import type { Cents } from '../shared/money.ts';

/** What falls due, in cents, a number of whole days after the issue. */
interface Flow {
  readonly days: number;
  readonly faceValue: number;
}

type Due = Pick<ScheduledInstallment, 'dueDate' | 'faceValue'>;

const flowsOf = (dateIssued: CalendarDate, installments: readonly Due[]): Flow[] =>
  installments
    .map(({ dueDate, faceValue }) => ({ days: daysBetween(dateIssued, dueDate), faceValue }))
    .sort((one, other) => one.days - other.days);

/** Binary digits after the point of a fixed-point number: some forty decimals more than a daily factor has. */
const FRACTION = 256n;
const FIXED_ONE = 1n << FRACTION;

/** Binary digits of a slope after the point. */
const SLOPE_FRACTION = 40;

/** Binary digits that make an integer of any factor that amounts in cents can have, without losing one of a float. */
const FLOAT_DIGITS = 120;

const fixedOf = (float: number): bigint =>
  BigInt(Math.round(float * 2 ** FLOAT_DIGITS)) << (FRACTION - BigInt(FLOAT_DIGITS));

/** Integer powers of one base; each is made once, from its half. */
const powersOf = (base: bigint): ((exponent: number) => bigint) => {
  const known = new Map<number, bigint>([
    [0, FIXED_ONE],
    [1, base],
  ]);
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

/** In the order of their days, from the last one backwards: one multiplication a flow. */
const sumOfFaces = (factor: bigint, flows: readonly Flow[]): bigint => {
  const power = powersOf(factor);
  let sum = 0n;
  for (let i = flows.length - 1; i >= 0; i -= 1) {
    const { days, faceValue } = flows[i]!;
    const before = i === 0 ? 0 : flows[i - 1]!.days;
    sum += BigInt(faceValue) << FRACTION;
    if (days > before) sum = (sum * power(days - before)) >> FRACTION;
  }
  return sum;
};

const MAX_ESTIMATES = 1_000;
/** A step this small is the last: well above the noise of the logarithms, and what it leaves of the error is its square. */
const CLOSE_ENOUGH = 1e-12;

interface Point {
  readonly value: number;
  readonly slope: number;
}

/** ln(sum of faces * e^(x * days)) and its slope, shifted by the largest exponent so that nothing overflows. */
const logOfFaces = (flows: readonly Flow[], logs: Float64Array, x: number): Point => {
  let shift = -Infinity;
  for (let i = 0; i < flows.length; i += 1) shift = Math.max(shift, logs[i]! + x * flows[i]!.days);
  let sum = 0;
  let weighted = 0;
  for (let i = 0; i < flows.length; i += 1) {
    const { days } = flows[i]!;
    const term = Math.exp(logs[i]! + x * days - shift);
    sum += term;
    weighted += term * days;
  }
  return { value: shift + Math.log(sum), slope: weighted / sum };
};

const logsOf = (flows: readonly Flow[]): Float64Array =>
  Float64Array.from(flows, ({ faceValue }) => Math.log(faceValue));

/** The days to the faces, each weighed with its value at this factor: the slope of the logarithms, to about 12 digits. */
const meanDays = (factor: number, flows: readonly Flow[]): number =>
  logOfFaces(flows, logsOf(flows), Math.log(factor)).slope;

/**
 * The daily factor to about 14 digits, and the mean days there. In x = ln v the equation is convex and its slope lies between the
 * shortest and the longest term, so Newton's steps cannot diverge, however far the price stands from the faces.
 */
const estimateDailyFactor = (
  acquisitionValue: number,
  flows: readonly Flow[],
): { readonly factor: number; readonly meanDays: number } => {
  const target = Math.log(acquisitionValue);
  const logs = logsOf(flows);
  let x = 0;
  let days = 1;
  for (let i = 0; i < MAX_ESTIMATES; i += 1) {
    const { value, slope } = logOfFaces(flows, logs, x);
    const step = (value - target) / slope;
    x -= step;
    days = slope;
    if (Math.abs(step) <= CLOSE_ENOUGH / slope) break;
  }
  return { factor: Math.exp(x), meanDays: days };
};

const DIGITS = 30;
const MAX_STEPS = 50;
/** Each step leaves a trillionth of the error before it: after one this small, relative to v, nothing is left that would be kept. */
const LAST_STEP = 110n;
/** Relative to v, and far below its last digit: a root that lies in the middle of two texts counts as found, and is rounded up. */
const HAIR = 140n;

/** 30 decimals, and more where leading zeros would leave fewer than 30 significant digits. */
const format = (v: bigint): string => {
  let [decimals, scale] = [DIGITS, 10n ** BigInt(DIGITS)];
  for (const least = scale / 10n; (v * scale) >> FRACTION < least; decimals += 1) scale *= 10n;
  const units = (v * scale + FIXED_ONE / 2n) >> FRACTION;
  const digits = String(units).padStart(decimals + 1, '0');
  return `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
};

/** Towards the root of sum(face * v^days) = acquisition value. What is missed is exact; floats do for the slope. */
const solve = (acquisitionValue: Cents, flows: readonly Flow[]): bigint => {
  const { factor, meanDays } = estimateDailyFactor(acquisitionValue, flows);
  const price = BigInt(acquisitionValue) << FRACTION;
  const slopeTimesV = price * BigInt(Math.round(meanDays * 2 ** SLOPE_FRACTION));
  let v = fixedOf(factor);
  for (let i = 0; i < MAX_STEPS; i += 1) {
    const step = (((sumOfFaces(v, flows) - price) * v) << BigInt(SLOPE_FRACTION)) / slopeTimesV;
    v -= step;
    if ((step < 0n ? -step : step) <= v >> LAST_STEP) return v + (v >> HAIR);
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
  installments: readonly Due[],
): string => {
  const flows = flowsOf(dateIssued, installments);
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
  return format(faces === acquisitionValue ? FIXED_ONE : solve(acquisitionValue, flows));
};

const FACTOR_TEXT = /^(\d+)\.(\d{30,120})$/;

interface PricedSchedule {
  readonly acquisitionValue: Cents;
  readonly dateIssued: CalendarDate;
  readonly installments: readonly Due[];
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
