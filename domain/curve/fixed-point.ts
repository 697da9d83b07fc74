import type { ScheduledInstallment } from '../installment/installment.ts';
import { daysBetween } from '../shared/calendar-date.ts';
import type { CalendarDate } from '../shared/calendar-date.ts';

/** What falls due, in cents, a number of whole days after the issue. */
export interface Flow {
  readonly days: number;
  readonly faceValue: number;
}

export const flowsOf = (
  dateIssued: CalendarDate,
  installments: readonly Pick<ScheduledInstallment, 'dueDate' | 'faceValue'>[],
): Flow[] =>
  installments
    .map(({ dueDate, faceValue }) => ({ days: daysBetween(dateIssued, dueDate), faceValue }))
    .sort((one, other) => one.days - other.days);

/** Binary digits after the point of a fixed-point number: some forty decimals more than a daily factor has. */
export const FRACTION = 256n;
export const FIXED_ONE = 1n << FRACTION;

/** Binary digits of a slope after the point. */
export const SLOPE_FRACTION = 40;

/** Binary digits that make an integer of any factor that amounts in cents can have, without losing one of a float. */
const FLOAT_DIGITS = 120;

export const fixedOf = (float: number): bigint =>
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
export const sumOfFaces = (factor: bigint, flows: readonly Flow[]): bigint => {
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
