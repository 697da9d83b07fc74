import { ONE } from './decimal.ts';
import type { Decimal } from './decimal.ts';

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
export type Carry = (days: number) => Decimal;

export const carryOf = (dailyFactor: Decimal): Carry => {
  const forward = powersOf(dailyFactor);
  let backward: ((exponent: number) => Decimal) | undefined;
  return (days) => {
    if (days >= 0) return forward(days);
    backward ??= powersOf(ONE.div(dailyFactor));
    return backward(-days);
  };
};
