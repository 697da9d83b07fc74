import { Decimal as AnyDecimal } from 'decimal.js';
import { cents } from '../shared/money.ts';
import type { Cents } from '../shared/money.ts';

/** 50 significant digits, half up; a constructor of the curve's own, whose precision nobody else moves. */
export const Decimal = AnyDecimal.clone({
  defaults: true,
  precision: 50,
  rounding: AnyDecimal.ROUND_HALF_UP,
});
export type Decimal = AnyDecimal;

export const ZERO = new Decimal(0);
const ONE = new Decimal(1);

/**
 * Highest amount the curve answers: 9,999,999,999,999.99. A loan of one day that stays open for years grows past any amount
 * that a JSON number carries; its value then stands at this ceiling, and decisions refuse to act on it.
 */
export const VALUE_CEILING = cents(999_999_999_999_999);
const VALUE_FLOOR = cents(-999_999_999_999_999);

/** Whole cents of an exact number of cents, half up, held at the ceiling on either side of zero. */
export const roundToCents = (exact: Decimal): Cents => {
  if (exact.gt(VALUE_CEILING)) return VALUE_CEILING;
  // A credit a hair above its installment grows along the curve like any value, and one such operation must not stop a whole sum.
  if (exact.lt(VALUE_FLOOR)) return VALUE_FLOOR;
  // Adding zero turns -0 into 0, which JSON and deep equality tell apart.
  return cents(exact.toDecimalPlaces(0).toNumber() + 0);
};

const RADIX = 32;

/**
 * Integer powers of one base. Exponents are written in base 32 and every digit's power is made once, so that a schedule of
 * 480 installments costs at most two or three multiplications each.
 */
const powersOf = (base: Decimal): ((exponent: number) => Decimal) => {
  const tables: Decimal[][] = [];

  const entryAt = (level: number, digit: number): Decimal => {
    const table = (tables[level] ??= [ONE, stepAt(level)]);
    const step = table[1] ?? ONE;
    while (table.length <= digit) table.push((table.at(-1) ?? ONE).times(step));
    return table[digit] ?? ONE;
  };
  const stepAt = (level: number): Decimal => (level === 0 ? base : entryAt(level - 1, 1).pow(RADIX));

  return (exponent) => {
    let power = ONE;
    for (let rest = exponent, level = 0; rest > 0; rest = Math.floor(rest / RADIX), level += 1) {
      const digit = rest % RADIX;
      if (digit > 0) power = power === ONE ? entryAt(level, digit) : power.times(entryAt(level, digit));
    }
    return power;
  };
};

/** Carries value over days: answers v^days for whole days of either sign, and exactly 1 for none. */
type Carry = (days: number) => Decimal;

export const carryOf = (dailyFactor: Decimal): Carry => {
  const forward = powersOf(dailyFactor);
  let backward: ((exponent: number) => Decimal) | undefined;
  return (days) => {
    if (days >= 0) return forward(days);
    backward ??= powersOf(ONE.div(dailyFactor));
    return backward(-days);
  };
};
