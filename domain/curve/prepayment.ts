import type { PrepaymentCredit } from '../installment/installment.ts';
import type { CalendarDate } from '../shared/calendar-date.ts';
import type { InstallmentCode } from '../shared/identifiers.ts';
import { ZERO as NOTHING, subtractCents } from '../shared/money.ts';
import type { Cents } from '../shared/money.ts';
import { ZERO, roundToCents } from './decimal.ts';
import type { Decimal } from './decimal.ts';
import { outstandingAtDueDate, roundRunningTotals, valueEach } from './present-value.ts';
import type { OpenAmount, PresentValueLine, Valued } from './present-value.ts';

/** Credits keep this many decimals of the currency unit: far below a cent after any number of years on the curve. */
const CREDIT_DECIMALS = 30;

export interface Prepayment {
  readonly value: Cents;
  readonly date: CalendarDate;
  /** Whether a rest that rounding left below zero has a line: only in prepayments recorded under an earlier rule. */
  readonly leftover?: 'told';
}

/** One step of an allocation, in the order in which it was walked. Values at the prepayment's date. */
interface AllocationLine extends PresentValueLine {
  readonly paidOff: boolean;
}

interface PartialPayment {
  readonly installmentCode: InstallmentCode;
  readonly credit: PrepaymentCredit;
  /** What it will owe on its due date. */
  readonly outstandingAtDue: Cents;
}

/** Where an advance payment went. `value` = what was paid off + the credit + `excessValue`. */
export interface Allocation {
  readonly payoffValue: Cents;
  readonly settledInstallments: readonly InstallmentCode[];
  /** Carries what was left, also where that is below zero by less than a cent. `partiallyPaid` says whether it is told. */
  readonly partial?: PartialPayment;
  readonly remainingBalance: Cents;
  readonly excessValue: Cents;
  /** Values at the prepayment's date, before the credit, of every installment that the money reached. */
  readonly lines: readonly AllocationLine[];
}

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Overdue ones from the oldest; then from the last due date backwards, where paying early saves the borrower most. */
const inAllocationOrder = (valued: readonly Valued[], date: CalendarDate): readonly Valued[] => {
  const byCode = (a: Valued, b: Valued) => byText(a.installment.code, b.installment.code);
  const byDueDate = (a: Valued, b: Valued) => byText(a.installment.dueDate, b.installment.dueDate);
  const overdue = valued.filter(({ installment }) => installment.dueDate < date);
  const future = valued.filter(({ installment }) => installment.dueDate >= date);
  overdue.sort((a, b) => byDueDate(a, b) || byCode(a, b));
  future.sort((a, b) => byDueDate(b, a) || byCode(a, b));
  return [...overdue, ...future];
};

const creditOf = (left: Decimal, date: CalendarDate): PrepaymentCredit | undefined => {
  const value = left.div(100).toDecimalPlaces(CREDIT_DECIMALS);
  return value.isZero() ? undefined : { value: value.toFixed(), date };
};

const carryPartial = (
  dailyFactor: string,
  installment: OpenAmount,
  credit: PrepaymentCredit,
): PartialPayment => ({
  installmentCode: installment.code,
  credit,
  outstandingAtDue: outstandingAtDueDate(dailyFactor, {
    ...installment,
    credits: [...installment.credits, credit],
  }),
});

/** How many of these, in order, the value pays off, and what is left for the one that follows; exact, in cents. */
const walk = (
  ordered: readonly Valued[],
  value: Cents,
): { readonly paidOff: number; readonly left: Decimal } => {
  let spent = ZERO;
  let paidOff = 0;
  for (const { exact } of ordered) {
    const next = spent.plus(exact);
    if (roundToCents(next) > value) break;
    spent = next;
    paidOff += 1;
  }
  return { paidOff, left: spent.neg().plus(value) };
};

/**
 * Spreads an advance payment over the open installments (policy `curve_v1`). The credit that is left over stays exact, so
 * that a later quote finds `remainingBalance` again to the cent.
 *
 * @param dailyFactor decimal text from `solveDailyFactor`
 * @param open in schedule order, with the credits of earlier prepayments
 */
export const allocatePrepayment = (
  dailyFactor: string,
  open: readonly OpenAmount[],
  { value, date, leftover }: Prepayment,
): Allocation => {
  const valued = valueEach(dailyFactor, open, date);
  const { total: payoffValue, lines: all } = roundRunningTotals(valued);
  if (value >= payoffValue) {
    return {
      payoffValue,
      settledInstallments: open.map(({ code }) => code),
      remainingBalance: NOTHING,
      excessValue: subtractCents(value, payoffValue),
      lines: all.map((line) => ({ ...line, paidOff: true })),
    };
  }
  const ordered = inAllocationOrder(valued, date);
  const { paidOff, left } = walk(ordered, value);
  const credit = creditOf(left, date);
  const next = ordered[paidOff]?.installment;
  const reachesNext = credit !== undefined && (leftover === 'told' || left.gt(ZERO));
  const reached = roundRunningTotals(ordered.slice(0, reachesNext ? paidOff + 1 : paidOff)).lines;
  return {
    payoffValue,
    settledInstallments: ordered.slice(0, paidOff).map(({ installment }) => installment.code),
    ...(credit && next && { partial: carryPartial(dailyFactor, next, credit) }),
    remainingBalance: subtractCents(payoffValue, value),
    excessValue: NOTHING,
    lines: reached.map((line, i) => ({ ...line, paidOff: i < paidOff })),
  };
};
