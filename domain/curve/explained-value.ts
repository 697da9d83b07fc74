import { daysBetween } from '../shared/calendar-date.ts';
import type { CalendarDate } from '../shared/calendar-date.ts';
import { ZERO as NOTHING, addCents } from '../shared/money.ts';
import type { Cents } from '../shared/money.ts';
import { Decimal, ZERO, carryOf } from './decimal.ts';
import { roundRunningTotals, valueEach } from './present-value.ts';
import type { OpenAmount, PresentValueLine } from './present-value.ts';

export interface CarriedAmount {
  /** Exact. */
  readonly amount: string;
  readonly date: CalendarDate;
  /** Whole days from the date of the valuation to its own; negative when its own lies before. */
  readonly days: number;
  readonly factor: string;
  /** Exact: amount times factor. */
  readonly carried: string;
}

export interface ExplainedLine extends PresentValueLine {
  readonly face: CarriedAmount;
  readonly credits: readonly CarriedAmount[];
  /** Exact, in reais: what the line adds. */
  readonly exact: string;
  readonly runningTotal: string;
  readonly roundedTotal: Cents;
}

/** For reading: prices themselves keep all 50 digits. */
const SHOWN_DIGITS = 30;
const CENTS_PER_UNIT = 100;

const text = (value: Decimal): string => value.toSignificantDigits(SHOWN_DIGITS).toFixed();
const DECIMALS = 2;
const reais = (value: Decimal): string => {
  const shown = value.dividedBy(CENTS_PER_UNIT).toSignificantDigits(SHOWN_DIGITS);
  return shown.toFixed(Math.max(DECIMALS, shown.decimalPlaces()));
};

export const explainPresentValue = (
  dailyFactor: string,
  open: readonly OpenAmount[],
  date: CalendarDate,
): readonly ExplainedLine[] => {
  const carry = carryOf(new Decimal(dailyFactor));
  const explain = (amount: Decimal, due: CalendarDate): CarriedAmount => {
    const days = daysBetween(date, due);
    const factor = carry(days);
    return {
      amount: reais(amount),
      date: due,
      days,
      factor: text(factor),
      carried: reais(factor.times(amount)),
    };
  };
  const valued = valueEach(dailyFactor, open, date);
  const { lines } = roundRunningTotals(valued);
  let [sum, total] = [ZERO, NOTHING];
  return valued.map(({ installment, exact }, i) => {
    const { faceValue, dueDate, credits } = installment;
    const line = lines[i]!;
    sum = sum.plus(exact);
    total = addCents(total, line.presentValue);
    return {
      ...line,
      face: explain(new Decimal(faceValue), dueDate),
      credits: credits.map((credit) => explain(new Decimal(credit.value).times(CENTS_PER_UNIT), credit.date)),
      exact: reais(exact),
      runningTotal: reais(sum),
      roundedTotal: total,
    };
  });
};
