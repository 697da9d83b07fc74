import { Decimal } from './decimal.ts';

const DAYS = 365;
const MONTHS = 12;
const DECIMALS = 10;
/** A larger one says nothing any more. */
const LARGEST = new Decimal('1e12');

const rateOver = (dailyFactor: string, days: number | Decimal): string | null => {
  const rate = new Decimal(dailyFactor).pow(new Decimal(days).negated()).minus(1);
  // Adding zero turns -0 into 0.
  return rate.gt(LARGEST) ? null : rate.toDecimalPlaces(DECIMALS).plus(0).toFixed(DECIMALS);
};

/** v^-365 - 1: 0.25 stands for 25 %. @param dailyFactor decimal text @returns 10 decimals, half up; null above 10^12 */
export const annualRate = (dailyFactor: string): string | null => rateOver(dailyFactor, DAYS);

/** The effective rate of a month, twelve of which make that of a year. */
export const monthlyRate = (dailyFactor: string): string | null =>
  rateOver(dailyFactor, new Decimal(DAYS).div(MONTHS));
