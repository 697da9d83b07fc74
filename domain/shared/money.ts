import type { Brand } from './identifiers.ts';

/** Integer cents of the fund's currency (BRL). Sums of 480 maximal amounts stay far below 2^53. */
export type Cents = Brand<number, 'Cents'>;

export const cents = (value: number): Cents => {
  if (!Number.isSafeInteger(value)) throw new RangeError(`not an integer number of cents: ${value}`);
  return value as Cents;
};

export const ZERO = cents(0);
/** Highest amount that a request or an answer can state: 999,999,999.99. */
export const LARGEST_AMOUNT = cents(99_999_999_999);

/** Cents of a JSON amount that has at most two decimals, such as 950.5. Rounds the float's own error away, nothing else. */
export const centsFromAmount = (amount: number): Cents => cents(Math.round(amount * 100));

export const formatCents = (value: Cents): string => {
  const digits = String(Math.abs(value)).padStart(3, '0');
  return `${value < 0 ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
};

export const addCents = (...values: readonly Cents[]): Cents => cents(values.reduce((sum, v) => sum + v, 0));
export const subtractCents = (from: Cents, value: Cents): Cents => cents(from - value);
