import { Decimal as AnyDecimal } from 'decimal.js';
import { cents } from '../shared/money.ts';
import type { Cents } from '../shared/money.ts';

/**
 * Decimals with 50 significant digits that round half up. A constructor of the curve's own, so that no other user of the
 * library can move its precision.
 */
export const Decimal = AnyDecimal.clone({
  defaults: true,
  precision: 50,
  rounding: AnyDecimal.ROUND_HALF_UP,
});
export type Decimal = AnyDecimal;

export const ZERO = new Decimal(0);
export const ONE = new Decimal(1);

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
